/** A long thread: its end is there soon, and its beginning comes without a jump. */
import type { DatabaseHandle } from '../../../../packages/server/src/db/database.ts';
import { untilThread } from '../../../console/ground.ts';
import { heapOf, longestTask, untilSo } from '../../lib/page-probe.ts';
import { idOf } from '../../lib/grown.ts';
import { bytesAt, contextOf, most, row } from './field.ts';
import type { Field, Part } from './field.ts';
import { HIGH_VIEW, jumpsOfScroll } from './jumps.ts';

const MESSAGES = 5_000;

export interface LargeField extends Field {
  database: DatabaseHandle;
}

export async function thread(field: LargeField): Promise<Part> {
  const count = field.setup.quick ? 400 : MESSAGES;
  const path = await longThread(field, count);
  const name = `thread of ${count.toLocaleString('en')} messages`;
  const shown: number[] = [];
  for (let i = 0; i < (field.setup.quick ? 2 : 5); i++) {
    const context = await contextOf(field, field.base);
    const page = await context.newPage();
    await page.goto(path, { waitUntil: 'commit' });
    const at = await untilSo(page, IS_AT_END);
    shown.push(at - (await bytesAt(page, '/messages?', '/runs?')));
    await context.close();
  }
  const context = await contextOf(field, field.base);
  const page = await context.newPage();
  await page.setViewportSize(HIGH_VIEW);
  await page.goto(path);
  await untilSo(page, IS_AT_END);
  await longestTask(page);
  const { jumps, frames } = await jumpsOfScroll(page);
  const task = await longestTask(page);
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length');
  const heap = await heapOf(await context.newCDPSession(page));
  await context.close();
  const rows = [
    row(`${name}: the last ones shown, after the last byte`, shown),
    row(`${name}: jump of a row, in a frame of the scroll to the first`, jumps, 'px'),
    row(`${name}: a frame of that scroll`, frames),
  ];
  return {
    rows: [
      ...rows,
      row(`${name}: longest task of that scroll`, [task]),
      row(`${name}: elements at the first`, [nodes], 'objects'),
      row(`${name}: heap at the first`, [heap], 'KiB'),
    ],
    aims: [
      most(`${name}: the last ones shown, p50`, rows[0]!.figures.median, [400, 'ms']),
      most(`${name}: the widest jump to the first`, rows[1]!.figures.max, [2, 'px']),
    ],
  };
}

/** The last message is on the screen, and its scroller at its end. */
const IS_AT_END = `(() => {
  const feed = document.querySelector('[role=feed]');
  const last = feed?.querySelector('article:last-of-type');
  if (!last?.textContent.includes('The last one.')) return false;
  return feed.scrollHeight - feed.clientHeight - feed.scrollTop < 2 && performance.now();
})()`;

/** Rows of many heights, so that none is as high as the page guesses. */
const CONTENT = `case n % 5
  when 0 then 'Message ' || n || E'\\n\\n' || repeat('What it says takes several lines of the page, and wraps. ', 1 + (n * 7 % 23)::int)
  when 1 then 'Message ' || n
  when 2 then 'Message ' || n || E'\\n\\n\`\`\`ts\\n' || repeat(E'const a = 1;\\n', 1 + (n % 13)::int) || E'\`\`\`\\n\\nDone.'
  when 3 then 'Message ' || n || E'\\n\\n' || repeat(E'- one of the things that were done\\n', 1 + (n % 11)::int)
  else '## Message ' || n || E'\\n\\n| File | Lines |\\n|-|-|\\n' || repeat(E'| a.ts | 12 |\\n', 1 + (n % 7)::int) end`;

/** The address of a thread with so many messages, written into the database: each second one is a run's reply. */
async function longThread({ client, app, database }: LargeField, count: number): Promise<string> {
  const { thread: made } = await client.threads.create(app.id, { title: 'A long talk' });
  await untilThread(client, app, made.id, ({ status }) => status === 'ready');
  const id = (prefix: string, number: string) =>
    `'${idOf(prefix, 0).slice(0, -9)}' || lpad((${number})::text, 9, '0')`;
  const at = (number: string) => `now() - interval '1 second' * (${count} - (${number}))`;
  const own = `(select org_id, id as thread_id, project_id from threads where id = '${made.id}') t`;
  await database.pool.query(
    `insert into runs (org_id, id, project_id, thread_id, message_id, reply_message_id, kind, agent, model_id, status, created_by, created_at, started_at, finished_at)
     select org_id, ${id('run', 'n + 1')}, project_id, thread_id, ${id('msg', 'n')}, ${id('msg', 'n + 1')}, 'message', 'scripted', 'scripted', 'completed', 'sa_bench', ${at('n')}, ${at('n')}, ${at('n + 1')}
     from generate_series(1, ${count}, 2) n, ${own}`,
  );
  await database.pool.query(
    `insert into messages (org_id, id, thread_id, run_id, role, content, sequence, created_at)
     select org_id, ${id('msg', 'n')}, thread_id, ${id('run', 'n + n % 2')}, case when n % 2 = 0 then 'assistant' else 'user' end, ${CONTENT} || case when n = ${count} then E'\\n\\nThe last one.' else '' end, n, ${at('n')}
     from generate_series(1, ${count}) n, ${own}`,
  );
  return `/console/apps/${app.id}/threads/${made.id}`;
}
