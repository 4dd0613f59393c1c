/** A reply of 100,000 characters while it is written. */
import { untilThread } from '../../../console/ground.ts';
import { longestTask, untilSo } from '../../lib/page-probe.ts';
import { workOfFrames } from '../../lib/trace.ts';
import { writingMessage, WRITER_MODEL } from '../../lib/writer.ts';
import { contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';

const CHARACTERS = 100_000;
const PER_SECOND = 10;
const NAME = `a reply of ${CHARACTERS.toLocaleString('en')} characters`;
const TEXTS = [
  'The button is **round** now, and `src/button.css` has its colour; the rest of the page is as it was before.',
  '```ts\nexport const round = (value: number) => Math.round(value * 100) / 100;\nconst all = [1, 2].map(round);\n```',
  '- a first thing that was done\n- a second one, in `src/cart.ts`\n- a [third](https://example.test/) one',
];

/** How long the agent waits after its first text, for the page to show it. */
const PAUSE_MS = 5_000;

export async function draft(field: Field): Promise<Part> {
  const { client, app, setup } = field;
  const unit = TEXTS.map((text) => `${text}\n\n`).join('');
  const text = unit.repeat(Math.ceil(CHARACTERS / unit.length)).slice(0, CHARACTERS);
  const seconds = setup.quick ? 4 : 20;
  const part: Part = { rows: [], aims: [] };
  // A whole reply would take as long as a model does.
  for (const [name, from] of [
    ['of its beginning', 0],
    ['of its end', 90_000],
  ] as const) {
    const { thread } = await client.threads.create(app.id, {
      title: 'A long reply',
      modelId: WRITER_MODEL,
    });
    await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
    const context = await contextOf(field, field.base);
    const page = await context.newPage();
    await page.goto(`/console/apps/${app.id}/threads/${thread.id}`);
    await client.messages.send(app.id, thread.id, {
      content: writingMessage({
        text: unit,
        from: from + 1,
        to: from + 10_000,
        pauseMs: PAUSE_MS,
        pieces: seconds * PER_SECOND,
        everyMs: 1_000 / PER_SECOND,
      }),
    });
    await untilSo(page, `(document.querySelector('[role=feed]')?.textContent.length ?? 0) > ${from * 0.7}`);
    await longestTask(page);
    const frames = await workOfFrames(field.browser, page, () =>
      untilThread(client, app, thread.id, ({ status }) => status === 'ready'),
    );
    const work = row(`${NAME}, ${name}: work of a frame`, frames);
    part.rows.push(work, row(`${NAME}, ${name}: longest task (under 50: 0)`, [await longestTask(page)]));
    part.aims.push(most(`${NAME}, ${name}: work of a frame, p95`, work.figures.p95, [16, 'ms']));
    await context.close();
  }
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
async function blankWork(field: Field, text: string): Promise<number[]> {
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
