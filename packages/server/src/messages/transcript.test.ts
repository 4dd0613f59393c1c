/** Which messages a fork takes over: the newest characters within the limit, of the runs that count. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { endRun } from '../runs/store.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok } from '../threads/threads.fixture.ts';
import { copyTranscript, TRANSCRIPT_CHARACTERS } from './transcript.ts';
import type { TranscriptEnd } from './transcript.ts';

let s: TestServer;
let ctx: Context;
let app: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ctx = s.service.ctx;
  app = (await newApp(s)).at;
});
afterAll(async () => {
  await s?.close();
});

const newThread = async (): Promise<string> => (await ok(s.call('POST', `${app}/threads`, {}))).thread.id;
const MINUTE_MS = 60_000;
const START_MS = Date.parse('2026-11-01T12:00:00Z');
/** When the n-th run of a thread ended. */
const endOf = (n: number) => new Date(START_MS + n * MINUTE_MS);

interface Said {
  content: string;
  /** Which run of the thread; its last one is still under way. */
  run: number;
}

/** Runs and their messages, in this order. Returns the ids of the runs. */
async function say(threadId: string, said: readonly Said[]): Promise<string[]> {
  const runs = Array.from({ length: Math.max(0, ...said.map(({ run }) => run)) + 1 }, () => newId('run'));
  await sql`
    insert into runs (org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by, finished_at)
    select t.org_id, run.id, t.project_id, t.id, 'msg', 'message', 'x', 'x', 'completed', 'x',
      case when run.n < ${runs.length} then ${endOf(0)}::timestamptz + (run.n - 1) * interval '1 minute' end
    from threads t, unnest(${runs}::text[]) with ordinality as run (id, n) where t.id = ${threadId}`.execute(
    ctx.db,
  );
  const rows = said.map(({ content, run }, i) => ({
    id: newId('msg'),
    content,
    run: runs[run],
    sequence: i + 1,
  }));
  await sql`
    insert into messages (org_id, id, thread_id, run_id, role, content, sequence)
    select t.org_id, m.id, t.id, m.run, 'user', m.content, m.sequence
    from threads t, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as m (id text, run text, content text, sequence int)
    where t.id = ${threadId}`.execute(ctx.db);
  return runs;
}

/** The texts that a fork of the thread takes over. */
async function copied(from: string, end: TranscriptEnd = {}): Promise<{ fork: string; texts: string[] }> {
  const fork = await newThread();
  const to = await ctx.db.selectFrom('threads').selectAll().where('id', '=', fork).executeTakeFirstOrThrow();
  await transaction(ctx, (tx) => copyTranscript(tx, { from: { id: from }, to, end }));
  const rows = await ctx.db
    .selectFrom('inherited_messages')
    .select(['position', 'content'])
    .where('thread_id', '=', fork)
    .orderBy('position')
    .execute();
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, i) => i + 1));
  return { fork, texts: rows.map(({ content }) => content) };
}

/** What is to be taken over, in as few words. */
function newest(texts: readonly string[]): string[] {
  let room = TRANSCRIPT_CHARACTERS;
  const kept = texts.toReversed().map((text) => {
    const characters = [...text].slice(-room || Infinity);
    room -= characters.length;
    return characters.join('');
  });
  return kept.filter((text) => text !== '').toReversed();
}

const LONG = TRANSCRIPT_CHARACTERS / 2;

test.each([
  ['exactly as much as fits', ['x', 'a'.repeat(LONG), 'b'.repeat(LONG)], 1, 0],
  ['a character too many', ['a'.repeat(LONG + 1), 'b'.repeat(LONG)], 0, 1],
  ['characters, not bytes or UTF-16 units', ['x', '😀'.repeat(LONG), 'ä'.repeat(LONG)], 1, 0],
  ['the end of the oldest, where an older one would fit', ['a', `x${'b'.repeat(2 * LONG - 1)}`, 'c'], 1, 1],
  ['the end of one that is too long by itself', ['a', `xy${'😀'.repeat(2 * LONG)}`], 1, 2],
  ['nothing of a thread in which nothing was said', [], 0, 0],
])('%s', async (_, texts, left, cut) => {
  const parent = await newThread();
  await say(parent, [...texts.map((content) => ({ content, run: 0 })), { content: 'open', run: 1 }]);
  const [oldest = '', ...others] = texts.slice(left);
  const whole = texts.length === 0 ? [] : [oldest.slice(cut), ...others];
  const is = (await copied(parent)).texts;
  expect(is.length).toBe(whole.length);
  expect(is.every((text, i) => text === whole[i])).toBe(true);
});

test('of any threads, forks and forks of forks: the newest characters of the runs that have ended', async () => {
  const text = fc
    .tuple(fc.constantFrom('a', 'é', '漢', '😀'), fc.oneof(fc.nat(50), fc.integer({ min: 1, max: LONG })))
    .map(([letter, count]) => letter.repeat(count + 1));
  const said = fc.array(fc.record({ content: text, run: fc.nat(4) }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(said, said, async (first, second) => {
      const ended = (all: Said[]) => {
        const last = Math.max(0, ...all.map(({ run }) => run));
        return all.filter(({ run }) => run < last).map(({ content }) => content);
      };
      const parent = await newThread();
      await say(parent, first);
      const { fork, texts } = await copied(parent);
      expect(texts).toEqual(newest(ended(first)));
      await say(fork, second);
      expect((await copied(fork)).texts).toEqual(newest([...texts, ...ended(second)]));
    }),
    { numRuns: 15 },
  );
}, 60_000);

test('up to a run, or to the runs that had ended by a time', async () => {
  const parent = await newThread();
  const runs = await say(
    parent,
    // The second message was sent before the first was answered.
    [
      { content: 'first', run: 0 },
      { content: 'second', run: 1 },
      { content: 'first answer', run: 0 },
      { content: 'second answer', run: 1 },
      { content: 'third', run: 2 },
      { content: 'open', run: 3 },
    ],
  );
  expect((await copied(parent, { runId: runs[0]! })).texts).toEqual(['first', 'first answer']);
  const two = ['first', 'second', 'first answer', 'second answer'];
  expect((await copied(parent, { runId: runs[1]! })).texts).toEqual(two);
  expect((await copied(parent, { endedBy: endOf(1) })).texts).toEqual(two);
  expect((await copied(parent, { endedBy: new Date(endOf(0).getTime() - 1) })).texts).toEqual([]);
  expect((await copied(parent)).texts).toEqual([...two, 'third']);
});

test('not of a run that ended after a checkpoint, however long its transaction has waited', async () => {
  const parent = await newThread();
  const [runId] = await say(parent, [
    { content: 'first', run: 0 },
    { content: 'open', run: 1 },
  ]);
  await sql`update runs set status = 'running', finished_at = null where id = ${runId}`.execute(ctx.db);
  const endedBy = await transaction(ctx, async (tx) => {
    await sql`select now()`.execute(tx.db);
    const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(ctx.db);
    await endRun(tx, runId!, { status: 'completed', resultSourceId: null, error: null, warnings: [] });
    return rows[0]!.at;
  });
  expect((await copied(parent, { endedBy })).texts).toEqual([]);
  expect((await copied(parent)).texts).toEqual(['first']);
});
