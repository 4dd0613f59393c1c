import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Db } from '../db/database.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import type { Draft } from './draft.ts';
import { startDraftFeed } from './drafts.ts';
import { APP, ORG, openTestLog, until } from './events.fixture.ts';
import type { Frame, Reader, TestLog } from './events.fixture.ts';
import { FollowedDraft } from './follow-draft.ts';
import { FakeJournals } from './journals.fixture.ts';
import { findDraftRun } from './store.ts';

const journals = new FakeJournals();
let log: TestLog;
beforeAll(async () => {
  log = await openTestLog({ runnerOf: journals.runnerOf });
  log.publish();
  for (const table of ['runs', 'threads'])
    await sql`alter table ${sql.table(table)} disable trigger all`.execute(log.ctx.db);
});
afterAll(() => log.close());
beforeEach(() => {
  journals.asked.length = 0;
  journals.isAway = false;
});
const opened: Reader[] = [];
afterEach(async () => {
  for (const reader of opened.splice(0)) reader.close();
  await until(() => journals.open === 0);
});

async function newThread(): Promise<string> {
  const id = newId('thr');
  await sql`insert into threads (org_id, id, project_id, listed, status, initialization_state, created_by) values (${ORG}, ${id}, ${APP}, true, 'running', 'completed', 'sa')`.execute(
    log.ctx.db,
  );
  return id;
}

/** A run that begins, as its first transaction does, with a journal unless its task is yet to start. */
async function startRun(
  threadId: string,
  { kind = 'message', hasTask = true }: { kind?: 'message' | 'restore'; hasTask?: boolean } = {},
) {
  const [runId, messageId] = [newId('run'), newId('msg')];
  const of = { orgId: ORG, projectId: APP, feed: 'platform', threadId, runId } as const;
  await transaction(log.ctx, async (tx) => {
    await sql`insert into runs (org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by) values (${ORG}, ${runId}, ${APP}, ${threadId}, ${messageId}, ${kind}, 'scripted', 'scripted', 'running', 'sa')`.execute(
      tx.db,
    );
    appendEvent(tx, of, 'run.running', { id: runId, status: 'running' });
  });
  if (hasTask) journals.begin(runId);
  return {
    threadId,
    runId,
    messageId,
    say: (content: string) => journals.say(runId, content),
    /** The run's last transaction. */
    finish: ({ hasReply = true } = {}) =>
      transaction(log.ctx, async (tx) => {
        await sql`update runs set status = 'completed' where id = ${runId}`.execute(tx.db);
        if (hasReply) appendEvent(tx, of, 'message.persisted', { id: messageId, role: 'assistant' });
        appendEvent(tx, of, 'run.completed', { id: runId, status: 'completed' });
      }),
  };
}
const startThreadWithRun = async () => startRun(await newThread());

async function open(threadId: string | null, types: string[] | null = null): Promise<Reader> {
  const reader = await log.read({
    ...log.filter(),
    threadId,
    types: types && (new Set(types) as NonNullable<ReturnType<TestLog['filter']>['types']>),
  });
  opened.push(reader);
  return reader;
}
const ENDS = ['message.persisted', 'run.completed'];
const events = (reader: Reader) =>
  reader.frames.map((f) => f.event!).filter((name) => name.startsWith('draft') || ENDS.includes(name));
const drafts = (reader: Reader) => reader.frames.filter((f): f is Frame => f.event === 'draft');
const texts = (reader: Reader) => drafts(reader).map((f) => f.data.content as string);
const shows = (reader: Reader, text: string) => until(() => texts(reader).at(-1) === text);
const isOver = (reader: Reader) => until(() => events(reader).includes('run.completed'));

describe('on a stream of the thread', () => {
  test('each text, whole, with rising revisions and without an id; then the message, then draft.removed', async () => {
    const run = await startThreadWithRun();
    const reader = await open(run.threadId);
    for (const text of ['one', 'one two', 'one two']) {
      const before = drafts(reader).length;
      run.say(text);
      await until(() => drafts(reader).length > before);
    }
    await run.finish();
    await isOver(reader);
    const { threadId, messageId, runId } = run;
    expect(drafts(reader)).toEqual(
      ['one', 'one two', 'one two'].map((content, i) => ({
        event: 'draft',
        data: { threadId, messageId, runId, revision: 2 * i + 1, content },
      })),
    );
    expect(events(reader).slice(3)).toEqual(['message.persisted', 'draft.removed', 'run.completed']);
    expect(reader.frames.find((f) => f.event === 'draft.removed')).toEqual({
      event: 'draft.removed',
      data: { threadId, messageId },
    });
  });

  test('a types filter leaves drafts in, and they still end with the message that it hides', async () => {
    const run = await startThreadWithRun();
    const reader = await open(run.threadId, ['run.completed']);
    run.say('text');
    await shows(reader, 'text');
    await run.finish();
    await isOver(reader);
    expect(events(reader)).toEqual(['draft', 'draft.removed', 'run.completed']);
  });

  test('that was open before its runs began: the drafts of each of them', async () => {
    const threadId = await newThread();
    const reader = await open(threadId);
    for (const text of ['first', 'second']) {
      const run = await startRun(threadId);
      run.say(text);
      await shows(reader, text);
      await run.finish();
      await until(() => events(reader).at(-1) === 'run.completed');
    }
    const one = ['draft', 'message.persisted', 'draft.removed', 'run.completed'];
    expect(events(reader)).toEqual([...one, ...one]);
  });

  test('opened in the middle: the draft as it stands, also when the agent is done; opened after the end: none', async () => {
    const run = await startThreadWithRun();
    const first = await open(run.threadId);
    run.say('so far');
    await shows(first, 'so far');
    await shows(await open(run.threadId), 'so far');
    journals.end(run.runId);
    await until(() => journals.open === 0);
    const settling = await open(run.threadId);
    await shows(settling, 'so far');
    await run.finish();
    await isOver(settling);
    const late = await open(run.threadId);
    await log.write(['run.queued'], { threadId: run.threadId });
    await until(() => late.frames.some((f) => f.event === 'run.queued'));
    expect(events(late)).toEqual([]);
    expect(journals.asked.length).toBe(1);
  });

  test('no draft comes after its message, however they race', async () => {
    for (let i = 0; i < 10; i++) {
      const run = await startThreadWithRun();
      const readers = await Promise.all([open(run.threadId), open(run.threadId)]);
      run.say('text');
      const finished = run.finish();
      readers.push(await open(run.threadId));
      await finished;
      run.say('too late');
      readers.push(await open(run.threadId));
      await Promise.all(readers.slice(0, 2).map(isOver));
      for (const reader of readers) {
        await until(() => events(reader).includes('draft') === events(reader).includes('draft.removed'));
        const names = events(reader);
        expect(names.slice(names.indexOf('message.persisted') + 1)).not.toContain('draft');
        reader.close();
      }
    }
  });

  test('another thread’s draft is not shown, nor any without a thread', async () => {
    const [run, other] = [await startThreadWithRun(), await startThreadWithRun()];
    const [mine, all] = [await open(run.threadId), await open(null)];
    other.say('theirs');
    run.say('mine');
    await shows(mine, 'mine');
    expect(texts(mine)).toEqual(['mine']);
    expect(drafts(all)).toEqual([]);
    expect(journals.asked.map(({ runId }) => runId)).toEqual([run.runId]);
  });

  test('a run that ends without a message ends its draft, too', async () => {
    const run = await startThreadWithRun();
    const reader = await open(run.threadId);
    run.say('text');
    await shows(reader, 'text');
    await run.finish({ hasReply: false });
    await until(() => events(reader).includes('draft.removed'));
    expect(events(reader)).toEqual(['draft', 'run.completed', 'draft.removed']);
  });
});

test.each([
  ['letters', 'x'],
  ['characters of two units', '\u{1f600}'],
])(
  'of a text that is too long the first 100,000 code points are shown, none cut in two (%s)',
  async (_, character) => {
    const run = await startThreadWithRun();
    const reader = await open(run.threadId);
    run.say(character.repeat(100_003));
    await until(() => drafts(reader).length === 1);
    expect(texts(reader)[0] === character.repeat(100_000)).toBe(true);
  },
);

describe('a journal', () => {
  test('is read once for all streams that show it, of its draft alone, until the last one leaves', async () => {
    const run = await startThreadWithRun();
    run.say('text');
    const readers = await Promise.all([open(run.threadId), open(run.threadId), open(run.threadId)]);
    for (const reader of readers) await shows(reader, 'text');
    expect(journals.asked).toEqual([{ runId: run.runId, from: 0, only: 'draft' }]);
    readers[0].close();
    readers[1].close();
    run.say('more');
    await shows(readers[2], 'more');
    readers[2].close();
    await until(() => journals.open === 0);
    await shows(await open(run.threadId), 'more');
    expect(journals.asked.length).toBe(2);
  });

  test('that is not there yet is asked for again', async () => {
    const run = await startRun(await newThread(), { hasTask: false });
    const reader = await open(run.threadId);
    await until(() => journals.asked.length > 2);
    journals.begin(run.runId);
    run.say('at last');
    await shows(reader, 'at last');
  });

  test('that breaks off is read on behind what was read', async () => {
    const run = await startThreadWithRun();
    const reader = await open(run.threadId);
    run.say('before');
    await shows(reader, 'before');
    journals.break();
    run.say('after');
    await shows(reader, 'after');
    expect(texts(reader)).toEqual(['before', 'after']);
    expect(journals.asked.map(({ from }) => from)).toEqual([0, 2]);
  });

  test('of a restore is not asked for', async () => {
    const threadId = await newThread();
    const reader = await open(threadId);
    const run = await startRun(threadId, { kind: 'restore' });
    expect(await findDraftRun(log.ctx.db, threadId)).toBeUndefined();
    await run.finish();
    await isOver(reader);
    expect(journals.asked).toEqual([]);
  });

  test('of a runner that is away: no drafts, all events; drafts again when it is back', async () => {
    journals.isAway = true;
    const [lost, run] = [await startThreadWithRun(), await startThreadWithRun()];
    const [alone, reader] = [await open(lost.threadId), await open(run.threadId)];
    lost.say('unseen');
    await until(() => journals.asked.length > 2);
    await lost.finish();
    await isOver(alone);
    expect(events(alone)).toEqual(['message.persisted', 'run.completed']);
    run.say('seen');
    journals.isAway = false;
    await shows(reader, 'seen');
  });
});

test('nothing of a draft is in the database', async () => {
  const run = await startThreadWithRun();
  const reader = await open(run.threadId);
  run.say('text');
  await shows(reader, 'text');
  const { rows } = await sql<{ count: number }>`select count(*)::int from drafts`.execute(log.ctx.db);
  expect(rows[0]!.count).toBe(0);
});

test('a look that fails is repeated', async () => {
  const run = await startThreadWithRun();
  run.say('text');
  let failures = 0;
  const db = {
    selectFrom(table: 'runs') {
      if (failures++ === 0) throw new Error('the database is away');
      return log.ctx.db.selectFrom(table);
    },
  } as unknown as Db;
  const feed = startDraftFeed({ ...log.ctx, db }, { subscribe: () => () => {} }, journals.runnerOf);
  const shown: Draft[] = [];
  const leave = feed.subscribe(run.threadId, { show: (draft) => shown.push(draft), end: () => {} });
  await until(() => shown.length === 1);
  expect(failures).toBe(2);
  leave();
});

test('a run found active by a look during which it ended is not followed', async () => {
  const run = await startThreadWithRun();
  run.say('text');
  let tell: (events: never[]) => void = () => {};
  const tail = {
    subscribe(listener: typeof tell) {
      tell = listener;
      return () => {};
    },
  };
  const feed = startDraftFeed(log.ctx, tail, journals.runnerOf);
  const ended: string[] = [];
  const listener = { show: () => {}, end: (runId: string) => ended.push(runId) };
  const leave = feed.subscribe(run.threadId, listener);
  tell([{ type: 'run.completed', thread_id: run.threadId, run_id: run.runId } as never]);
  // Its own look finds the run: the one before it has ended by then.
  const other = startDraftFeed(log.ctx, { subscribe: () => () => {} }, journals.runnerOf);
  const shown: Draft[] = [];
  const leaveOther = other.subscribe(run.threadId, { show: (draft) => shown.push(draft), end: () => {} });
  await until(() => shown.length === 1);
  expect(ended).toEqual([run.runId]);
  expect(journals.asked.length).toBe(1);
  leave();
  leaveOther();
});

// All these pauses pass one by one, which takes a busy machine a while.
test(
  'a journal that cannot be read for ten minutes is given up, after pauses of at most a second',
  { timeout: 60_000 },
  async () => {
    vi.useFakeTimers();
    try {
      let asked = 0;
      const onGivenUp = vi.fn();
      const followed = new FollowedDraft({
        log: log.ctx.log,
        runnerOf: () => {
          asked++;
          return Promise.reject(new Error('no runner'));
        },
        run: { id: 'run', threadId: 'thr', messageId: 'msg' },
        onDraft: () => {},
        onGivenUp,
      });
      await vi.advanceTimersByTimeAsync(599_000);
      expect(onGivenUp).not.toHaveBeenCalled();
      expect(asked).toBeGreaterThan(590);
      expect(asked).toBeLessThan(700);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(onGivenUp).toHaveBeenCalledTimes(1);
      const before = asked;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toBe(before);
      followed.stop();
    } finally {
      vi.useRealTimers();
    }
  },
);
