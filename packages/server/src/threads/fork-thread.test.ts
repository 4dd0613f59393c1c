import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { lockThreadById, writeThread } from './index.ts';
import { newBench, ok, refusal, sh, until } from './threads.fixture.ts';
import type { Bench } from './threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const file = (path: string, content: string) => `\`\`\`file ${path}\n${content}\n\`\`\``;
const fork = (b: Bench, body: object = {}) => s.call('POST', `${b.at}/fork`, body);
const forked = async (b: Bench, body: object = {}) => (await ok(fork(b, body))).thread;
const pathOf = (b: Bench, thread: { id: string }) => `${b.app}/threads/${thread.id}`;
/** The texts of a thread's messages, what it inherited first. */
async function heard(b: Bench, thread: { id: string }, query = ''): Promise<string[]> {
  const { messages } = await ok(s.call('GET', `${pathOf(b, thread)}/messages?inherited=true${query}`));
  return messages.map(({ content, role }: { content: string; role: string }) =>
    role === 'user' ? content : role,
  );
}
const edit = async (b: Bench, path: string) =>
  ok(
    s.call('POST', `${b.at}/edits`, {
      expectedSourceId: (await b.thread()).latestSourceId,
      changes: [{ path, content: path }],
    }),
  );
const newest = async (b: Bench) => (await b.list('checkpoints'))[0].id as string;

describe('201', () => {
  test('publishes what the creation of a thread does, and begins a run with the model of its thread', async () => {
    const b = await newBench(s, {
      thread: { title: 'Pond', modelId: 'scripted' },
      settings: { modelId: 'a/b' },
    });
    await b.work(file('b.txt', 'b'));
    const words = await b.during(async () => {
      const { thread, run } = await ok(fork(b, { message: { content: file('c.txt', 'c') } }));
      expect([thread.title, run.modelId]).toEqual(['Pond', 'scripted']);
      await ok(s.call('GET', `${pathOf(b, thread)}/runs/${run.id}?waitSeconds=30`));
    });
    expect(words.slice(0, 3)).toEqual(['thread.updated:queued', 'message.persisted:user', 'run.queued']);
    expect(words.filter((word) => word.startsWith('message.'))).toEqual([
      'message.persisted:user',
      'message.persisted:assistant',
    ]);
  });

  test('its limit is what is left of that of its thread, not that of the settings', async () => {
    const b = await newBench(s, { thread: { spendLimitMicros: 700 }, settings: { spendLimitMicros: 5 } });
    const { ctx } = s.service;
    const spend = (micros: number) =>
      sql`
        insert into spending (org_id, scope_id, period, spent_micros) select org_id, id, '', ${micros} from threads where id = ${b.threadId}
        on conflict (scope_id, period) do update set spent_micros = excluded.spent_micros`.execute(ctx.db);
    await spend(300);
    expect((await forked(b)).spendLimitMicros).toBe(400);
    await spend(900);
    expect((await forked(b)).spendLimitMicros).toBe(0);
    expect((await forked(b, { spendLimitMicros: 3 })).spendLimitMicros).toBe(3);
    await ok(s.call('PATCH', b.at, { spendLimitMicros: null }));
    expect((await forked(b)).spendLimitMicros).toBeNull();
  });

  test('of a checkpoint that no run made it has what was said by then', async () => {
    const b = await newBench(s);
    await b.work('one');
    await edit(b, 'edited.txt');
    const checkpointId = await newest(b);
    const { latestSourceId } = await b.thread();
    await b.work(file('two.txt', 'two'));
    const thread = await forked(b, { checkpointId });
    expect([thread.latestSourceId, thread.forkedFrom.checkpointId]).toEqual([latestSourceId, checkpointId]);
    expect(await heard(b, thread)).toEqual(['one', 'assistant']);
    expect(await heard(b, await forked(b))).toEqual([
      'one',
      'assistant',
      file('two.txt', 'two'),
      'assistant',
    ]);
  });

  test('a checkpoint is made after the runs before it, however long its transaction has waited', async () => {
    const b = await newBench(s);
    const { ctx } = s.service;
    let begin = () => {};
    const mayBegin = new Promise<void>((resolve) => {
      begin = resolve;
    });
    // An edit that began before the run's end, and got the thread's lock after it.
    const late = transaction(ctx, async (tx) => {
      await sql`select now()`.execute(tx.db);
      await mayBegin;
      const { thread } = (await lockThreadById(tx, b.threadId))!;
      await sql`
        insert into checkpoints (org_id, id, thread_id, source_id, kind)
        values (${thread.org_id}, ${newId('chk')}, ${thread.id}, ${thread.latest_source_id}, 'edit')`.execute(
        tx.db,
      );
    });
    await b.work('one');
    begin();
    await late;
    expect(await heard(b, await forked(b, { checkpointId: await newest(b) }))).toEqual(['one', 'assistant']);
  });

  test('lists what it inherited in both orders, page by page; a cursor is of one list', async () => {
    const b = await newBench(s);
    await b.work('one');
    const child = await forked(b);
    await ok(s.call('POST', `${pathOf(b, child)}/messages`, { content: 'two' }));
    await until('the answer', async () => (await heard(b, child)).length === 4);
    const { thread } = await ok(s.call('POST', `${pathOf(b, child)}/fork`, {}));
    const all = ['one', 'assistant', 'two', 'assistant'];
    expect(await heard(b, thread)).toEqual(all);
    expect(await heard(b, child, '&order=desc')).toEqual(all.toReversed());
    for (const order of ['asc', 'desc']) {
      const seen: unknown[] = [];
      let cursor = '';
      do {
        const at = `${pathOf(b, child)}/messages`;
        const query = `inherited=true&limit=1&order=${order}${cursor}`;
        const page = await ok(s.call('GET', `${at}?${query}`));
        seen.push(...page.messages);
        if (page.hasMore)
          expect(await refusal(s.call('GET', `${at}?limit=1&order=${order}&cursor=${page.nextCursor}`))).toBe(
            '400 invalid_cursor',
          );
        cursor = page.hasMore ? `&cursor=${page.nextCursor}` : '';
      } while (cursor);
      expect(seen).toEqual(
        (await ok(s.call('GET', `${pathOf(b, child)}/messages?inherited=true&order=${order}`))).messages,
      );
    }
    // Of its parents, only the one that is still there.
    await ok(s.call('DELETE', b.at));
    expect(await heard(b, thread)).toEqual(['two', 'assistant']);
    expect(await heard(b, thread, '&limit=1')).toEqual(['two']);
  });

  test('works and is applied from the same base after its thread is gone', async () => {
    const base = { 'a.txt': 'a\n', 'b.txt': 'b\n' };
    const b = await newBench(s, { files: base });
    const { thread: other } = await ok(s.call('POST', `${b.app}/threads`, {}));
    await b.work(file('a.txt', 'draft'));
    const thread = await forked(b);
    await ok(s.call('DELETE', b.at));
    await sql`delete from messages where thread_id = ${b.threadId}`.execute(s.service.ctx.db);
    await work(b, other, file('b.txt', 'head'));
    await applied(b, other);
    await work(b, thread, file('c.txt', 'c'));
    expect(await b.files(await applied(b, thread))).toEqual({
      'a.txt': 'draft\n',
      'b.txt': 'head\n',
      'c.txt': 'c\n',
    });
  });
});

async function work(b: Bench, thread: { id: string }, content: string): Promise<void> {
  const { run } = await ok(s.call('POST', `${pathOf(b, thread)}/messages`, { content }));
  const ended = await ok(s.call('GET', `${pathOf(b, thread)}/runs/${run.id}?waitSeconds=30`));
  expect(ended.run.status).toBe('completed');
}

/** Applies the latest source. Returns the head's. */
async function applied(b: Bench, thread: { id: string }): Promise<string> {
  const clientOperationId = randomUUID();
  const { latestSourceId: expectedSourceId } = (await ok(s.call('GET', pathOf(b, thread)))).thread;
  const body = { expectedSourceId, clientOperationId, conflictResolution: 'manual' };
  const { apply } = await ok(s.call('POST', `${pathOf(b, thread)}/apply`, body, { idem: clientOperationId }));
  const ended = await ok(s.call('GET', `${b.app}/applies/${apply.id}?waitSeconds=30`));
  expect(ended.apply.status).toBe('applied');
  return ended.apply.resultSourceId;
}

describe('a fork beside a change of its thread', () => {
  /** Forks while another transaction holds the thread, and lets that one go on once the fork waits for it. */
  async function forkBeside(b: Bench, change: (tx: Tx) => Promise<unknown>, body: object = {}) {
    const { ctx } = s.service;
    let answer: ReturnType<typeof fork>;
    await transaction(ctx, async (tx) => {
      await lockThreadById(tx, b.threadId);
      const { rows: mine } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.db);
      answer = fork(b, body);
      await until('the fork to wait', async () => {
        const { rows } = await sql<{ waits: boolean }>`
          select exists (select from pg_stat_activity where ${mine[0]!.pid} = any(pg_blocking_pids(pid))) as waits`.execute(
          ctx.db,
        );
        return rows[0]!.waits;
      });
      await change(tx);
    });
    return answer!;
  }

  test('has the outcome of a run that ended first', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 100'));
    await b.working(run.id);
    const { source } = await ok(
      s.call('POST', `${b.app}/sources`, { files: [{ path: 'new.txt', content: 'new' }] }),
    );
    const answer = await forkBeside(b, async (tx) => {
      await sql`update runs set finished_at = now() where id = ${run.id}`.execute(tx.db);
      await writeThread(tx, b.threadId, { latest_source_id: source.id });
    });
    const { thread } = answer.body;
    expect([answer.status, thread.latestSourceId]).toEqual([201, source.id]);
    expect(await heard(b, thread)).toEqual([sh('sleep 100')]);
    await sql`update runs set finished_at = null where id = ${run.id}`.execute(s.service.ctx.db);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
  });

  test('is open when an apply has sealed it first', async () => {
    const b = await newBench(s);
    const answer = await forkBeside(b, (tx) => writeThread(tx, b.threadId, { sealed_at: new Date() }));
    expect([answer.status, answer.body.thread.sealedAt]).toEqual([201, null]);
  });

  test('does not exist when a deletion was first', async () => {
    const b = await newBench(s);
    const answer = forkBeside(b, (tx) => writeThread(tx, b.threadId, { deleted_at: new Date() }));
    expect(await refusal(answer)).toBe('404 thread_not_found');
    expect((await ok(s.call('GET', `${b.app}/threads`))).threads).toEqual([]);
  });

  test('several at once, and with applies of its thread and another, are all done', async () => {
    const b = await newBench(s);
    await b.work(file('b.txt', 'b'));
    const { thread: other } = await ok(s.call('POST', `${b.app}/threads`, {}));
    await work(b, other, file('c.txt', 'c'));
    const [threads] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, () => forked(b))),
      applied(b, { id: b.threadId }),
      applied(b, other),
    ]);
    for (const thread of threads) expect([thread.sealedAt, thread.sourceId]).toEqual([null, b.sourceId]);
    expect(new Set(threads.map(({ id }) => id)).size).toBe(6);
  });
});

describe('4xx', () => {
  test('409 a thread that has no source yet', async () => {
    const { project } = await ok(s.call('POST', '/api/projects', { name: 'Empty' }));
    const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id }));
    expect(await refusal(s.call('POST', `/api/threads/${thread.id}/fork`, {}))).toBe('409 conflict');
  });

  test('404 a checkpoint of another thread, also of its own fork; nothing is made', async () => {
    const b = await newBench(s);
    await edit(b, 'edited.txt');
    const checkpointId = await newest(b);
    const child = await forked(b);
    expect(await refusal(s.call('POST', `${pathOf(b, child)}/fork`, { checkpointId }))).toBe(
      '404 checkpoint_not_found',
    );
    expect((await ok(s.call('GET', `${b.app}/threads`))).threads).toHaveLength(2);
  });
});
