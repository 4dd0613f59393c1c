/** A reply of 100,000 characters while it is written. */
import pino from 'pino';
import { openBus } from '../../../../packages/server/src/bus.ts';
import { putDraft } from '../../../../packages/server/src/events/drafts.ts';
import { newId } from '../../../../packages/server/src/ids.ts';
import { sh, untilThread } from '../../../console/ground.ts';
import { longestTask, untilSo } from '../../lib/page-probe.ts';
import { workOfFrames } from '../../lib/trace.ts';
import { contextOf, most, row } from './field.ts';
import type { Part } from './field.ts';
import type { LargeField } from './thread.ts';

const CHARACTERS = 100_000;
const PER_SECOND = 10;
const NAME = `a reply of ${CHARACTERS.toLocaleString('en')} characters`;
const TEXTS = [
  'The button is **round** now, and `src/button.css` has its colour; the rest of the page is as it was before.',
  '```ts\nexport const round = (value: number) => Math.round(value * 100) / 100;\nconst all = [1, 2].map(round);\n```',
  '- a first thing that was done\n- a second one, in `src/cart.ts`\n- a [third](https://example.test/) one',
];

export async function draft(field: LargeField): Promise<Part> {
  const { client, app, database, setup } = field;
  const content = sh('sleep 3000');
  const { thread } = await client.threads.create(app.id, { title: 'A long reply', message: { content } });
  const { latestRunId } = await untilThread(client, app, thread.id, ({ status }) => status === 'running');
  const { rows: runs } = await database.pool.query<{ org_id: string; reply_message_id: string }>(
    'select org_id, reply_message_id from runs where id = $1',
    [latestRunId],
  );
  const log = pino({ level: 'silent' });
  const bus = await openBus(database.connection, newId('wrk'), log);
  setup.atEnd(() => bus.close());
  const put = (text: string) =>
    putDraft(
      { db: database.db, bus, log },
      {
        orgId: runs[0]!.org_id,
        threadId: thread.id,
        messageId: runs[0]!.reply_message_id,
        runId: latestRunId!,
        content: text,
      },
    );
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  await page.goto(`/console/apps/${app.id}/threads/${thread.id}`);
  const paragraphs = Array.from({ length: CHARACTERS / 90 }, (_, i) => `${TEXTS[i % 3]}\n\n`);
  const text = paragraphs.join('').slice(0, CHARACTERS);
  const seconds = setup.quick ? 4 : 20;
  const part: Part = { rows: [], aims: [] };
  // A whole reply would take as long as a model does.
  for (const [name, from] of [
    ['of its beginning', 0],
    ['of its end', 90_000],
  ] as const) {
    put(text.slice(0, from + 1));
    await untilSo(page, `(document.querySelector('[role=feed]')?.textContent.length ?? 0) > ${from * 0.7}`);
    await longestTask(page);
    const frames = await workOfFrames(field.browser, page, () =>
      grow(seconds, (share) => put(text.slice(0, from + Math.ceil(10_000 * share)))),
    );
    const work = row(`${NAME}, ${name}: work of a frame`, frames);
    part.rows.push(work, row(`${NAME}, ${name}: longest task (under 50: 0)`, [await longestTask(page)]));
    part.aims.push(most(`${NAME}, ${name}: work of a frame, p95`, work.figures.p95, [16, 'ms']));
  }
  await context.close();
  await client.runs.stop(app.id, thread.id);
  return {
    ...part,
    rows: [
      ...part.rows,
      row('a blank page: work of a frame with the same text', await blankWork(field, text)),
    ],
  };
}

/** Calls `show` with the share that is there by then, until all is. */
async function grow(seconds: number, show: (share: number) => unknown): Promise<void> {
  const began = performance.now();
  for (let i = 1; i <= seconds * PER_SECOND; i++) {
    await show(i / (seconds * PER_SECOND));
    const due = began + (i * 1000) / PER_SECOND;
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, due - performance.now()));
    });
  }
}

/** The end of the text in one paragraph, to the end of which the page is scrolled. */
async function blankWork(field: LargeField, text: string): Promise<number[]> {
  const context = await contextOf(field, field.blank);
  const page = await context.newPage();
  await page.goto('/');
  let shown = 90_000;
  await page.evaluate(
    `(window.__p = document.querySelector('p')).style.cssText = 'white-space: pre-wrap',
    window.__p.textContent = ${JSON.stringify(text.slice(0, shown))}, scrollTo(0, 1e9)`,
  );
  // Only what is new: the whole text, again and again, would be work of its own to parse.
  const frames = await workOfFrames(field.browser, page, () =>
    grow(4, (share) => {
      const added = text.slice(shown, 90_000 + Math.ceil(10_000 * share));
      shown += added.length;
      return page.evaluate(`window.__p.firstChild.appendData(${JSON.stringify(added)}), scrollTo(0, 1e9)`);
    }),
  );
  await context.close();
  return frames;
}
