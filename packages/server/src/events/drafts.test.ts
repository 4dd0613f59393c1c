import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendEvent, transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { putDraft, removeDraft } from './drafts.ts';
import { APP, ORG, openTestLog, until } from './events.fixture.ts';
import type { Frame, Reader, TestLog } from './events.fixture.ts';

let log: TestLog;
beforeAll(async () => {
  log = await openTestLog();
  log.publish();
  await sql`alter table runs disable trigger all`.execute(log.ctx.db);
  await sql`alter table runs drop constraint if exists runs_thread_id_fkey`.execute(log.ctx.db);
});
afterAll(() => log.close());

/** An active run and what it writes. */
async function startRun() {
  const [threadId, runId, messageId] = [newId('thr'), newId('run'), newId('msg')];
  await sql`insert into runs (org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by) values (${ORG}, ${runId}, ${APP}, ${threadId}, ${messageId}, 'message', 'scripted', 'scripted', 'running', 'sa')`.execute(
    log.ctx.db,
  );
  return {
    threadId,
    runId,
    messageId,
    put: (content: string) => putDraft(log.ctx, { orgId: ORG, threadId, messageId, runId, content }),
    /** The run's last transaction. */
    finish: () =>
      transaction(log.ctx, async (tx) => {
        await sql`update runs set status = 'completed' where id = ${runId}`.execute(tx.db);
        appendEvent(
          tx,
          { orgId: ORG, projectId: APP, feed: 'platform', threadId, runId },
          'message.persisted',
          { id: messageId, role: 'assistant' },
        );
        appendEvent(tx, { orgId: ORG, projectId: APP, feed: 'platform', threadId, runId }, 'run.completed', {
          id: runId,
          status: 'completed',
        });
        await removeDraft(tx, threadId);
      }),
    open: (types: ('run.completed' | 'message.persisted')[] | null = null) =>
      log.read({ ...log.filter(), threadId, types: types && new Set(types) }),
  };
}
const events = (reader: Reader) => reader.frames.map((f) => f.event).filter((name) => name !== 'heartbeat');
const drafts = (reader: Reader) => reader.frames.filter((f): f is Frame => f.event === 'draft');
const stored = async (threadId: string) =>
  log.ctx.db.selectFrom('drafts').selectAll().where('thread_id', '=', threadId).executeTakeFirst();

describe('on a stream of the thread', () => {
  test('each revision, whole, without an id; then the message, then draft.removed', async () => {
    const run = await startRun();
    const reader = await run.open();
    run.put('one');
    await until(() => drafts(reader).length === 1);
    run.put('one two');
    await until(() => drafts(reader).length === 2);
    await run.finish();
    await until(() => events(reader).includes('run.completed'));
    expect(drafts(reader)).toEqual(
      ['one', 'one two'].map((content, i) => ({
        event: 'draft',
        data: {
          threadId: run.threadId,
          messageId: run.messageId,
          runId: run.runId,
          revision: i + 1,
          content,
        },
      })),
    );
    expect(events(reader)).toEqual(['draft', 'draft', 'message.persisted', 'draft.removed', 'run.completed']);
    expect(reader.frames.find((f) => f.event === 'draft.removed')).toEqual({
      event: 'draft.removed',
      data: { threadId: run.threadId, messageId: run.messageId },
    });
    reader.close();
  });

  test('a types filter leaves drafts in, and they still end with the message that it hides', async () => {
    const run = await startRun();
    const reader = await run.open(['run.completed']);
    run.put('text');
    await until(() => drafts(reader).length === 1);
    await run.finish();
    await until(() => events(reader).includes('run.completed'));
    expect(events(reader)).toEqual(['draft', 'draft.removed', 'run.completed']);
    reader.close();
  });

  test('opened in the middle: the draft as it stands; opened after the end: none', async () => {
    const run = await startRun();
    run.put('so far');
    await until(() => stored(run.threadId));
    const middle = await run.open();
    await until(() => drafts(middle).length === 1);
    expect(drafts(middle)[0]!.data.content).toBe('so far');
    await run.finish();
    await until(() => events(middle).includes('run.completed'));
    const late = await run.open();
    run.put('a straggler');
    await log.write(['run.queued'], { threadId: run.threadId });
    await until(() => events(late).includes('run.queued'));
    expect(events(late)).toEqual(['run.queued']);
    expect(events(middle).filter((e) => e === 'draft').length).toBe(1);
    middle.close();
    late.close();
  });

  test('no draft comes after its message, however they race', async () => {
    for (let i = 0; i < 20; i++) {
      const run = await startRun();
      const readers = await Promise.all([run.open(), run.open()]);
      run.put('text');
      const finished = run.finish();
      readers.push(await run.open());
      await finished;
      run.put('too late');
      await until(() => readers.slice(0, 2).every((r) => events(r).includes('run.completed')));
      for (const reader of readers) {
        const names = events(reader);
        expect(names.slice(names.indexOf('message.persisted') + 1)).not.toContain('draft');
        expect(names.includes('draft')).toBe(names.includes('draft.removed'));
        reader.close();
      }
    }
  });

  test('another thread’s draft is not shown, nor any without a thread', async () => {
    const [run, other] = [await startRun(), await startRun()];
    const [mine, all] = [await run.open(), await log.read(log.filter())];
    other.put('theirs');
    run.put('mine');
    await until(() => drafts(mine).length === 1);
    expect(drafts(mine)[0]!.data.content).toBe('mine');
    expect(drafts(all)).toEqual([]);
    mine.close();
    all.close();
  });
});

describe('put', () => {
  test('of many in a row the last one counts, at most ten a second', async () => {
    const run = await startRun();
    for (let i = 1; i <= 50; i++) run.put(`text ${i}`);
    const row = await until(async () => {
      const found = await stored(run.threadId);
      return found?.content === 'text 50' ? found : undefined;
    });
    expect(row.revision).toBe(2);
  });

  test('a stream gets at most ten revisions a second, rising, each the newest text of its moment', async () => {
    const run = await startRun();
    const reader = await run.open();
    await until(() => reader.frames.length === 1);
    const from = performance.now();
    let written = 0;
    await until(() => {
      run.put(`text ${written++}`);
      return drafts(reader).length >= 6;
    });
    expect(performance.now() - from).toBeGreaterThan(490);
    const numbers = drafts(reader).map(({ data }) => [data.revision, Number(data.content.slice(5))] as const);
    for (const [i, [revision, text]] of numbers.entries())
      if (i > 0) expect(revision > numbers[i - 1]![0] && text > numbers[i - 1]![1]).toBe(true);
    expect(written).toBeGreaterThan(numbers.length);
    reader.close();
  });

  test.each([
    ['letters', 'x'],
    ['characters of two units', '\u{1f600}'],
  ])(
    'of a text that is too long the first 100,000 code points are shown, none cut in two (%s)',
    async (_, character) => {
      const run = await startRun();
      run.put(character.repeat(100_003));
      const row = await until(() => stored(run.threadId));
      expect(row.content === character.repeat(100_000)).toBe(true);
    },
  );

  test('a text that comes after the removal changes nothing; the next message’s draft begins anew', async () => {
    const run = await startRun();
    run.put('text');
    await until(() => stored(run.threadId));
    await transaction(log.ctx, (tx) => removeDraft(tx, run.threadId));
    run.put('a straggler');
    const next = { orgId: ORG, threadId: run.threadId, runId: run.runId };
    const other = await startRun();
    other.put('one');
    other.put('two'); // stored a turn later than the straggler
    await until(async () => (await stored(other.threadId))?.revision === 2);
    expect(await stored(run.threadId)).toMatchObject({ removed: true, content: '', revision: 1 });
    const messageId = newId('msg');
    putDraft(log.ctx, { ...next, messageId, content: 'new' });
    const row = await until(async () => {
      const found = await stored(run.threadId);
      return found?.message_id === messageId ? found : undefined;
    });
    expect(row).toMatchObject({ removed: false, content: 'new', revision: 1 });
  });
});
