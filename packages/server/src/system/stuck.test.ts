import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, invited, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok, P, sh } from '../threads/threads.fixture.ts';
import { findStuck, stuckQuery } from './find-stuck.ts';
import { queuesQuery } from './read-queues.ts';

let s: TestServer;
let cookie: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  cookie = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

interface Stuck {
  kind: string;
  id: string;
  orgId: string;
  projectId: string;
  threadId: string;
  since: string;
  reason: string;
  remedy: string;
}

/** What is stuck when the clock is `minutes` ahead. */
async function stuckIn(minutes: number, query = ''): Promise<Stuck[]> {
  const { clock } = s.service.ctx;
  clock.offsetMs = minutes * 60_000;
  try {
    return (await ok(s.call('GET', `/api/system/stuck?limit=200${query}`, undefined, { cookie }))).stuck;
  } finally {
    clock.offsetMs = 0;
  }
}
const kindsOf = async (projectId: string, minutes: number) =>
  (await stuckIn(minutes)).filter((one) => one.projectId === projectId).map((one) => `${one.kind} ${one.id}`);

/** A worker of a process that this test does not have. */
async function withWorker(heartbeat: string, work: (id: string) => Promise<void>): Promise<void> {
  const id = `wrk_${heartbeat.replaceAll(' ', '')}`;
  await sql`insert into workers (id, heartbeat_at) values (${id}, now() - ${heartbeat}::interval)`.execute(
    s.service.ctx.db,
  );
  try {
    await work(id);
  } finally {
    await sql`delete from workers where id = ${id}`.execute(s.service.ctx.db);
  }
}
const claim = (key: string, workerId: string) =>
  sql`update jobs set status = 'active', worker_id = ${workerId} where id = (select min(id) from jobs where key = ${key})`.execute(
    s.service.ctx.db,
  );
async function threadWithRun(appId: string) {
  const { thread } = await ok(s.call('POST', `${P}/apps/${appId}/threads`, {}));
  const at = `${P}/apps/${appId}/threads/${thread.id}`;
  const { run } = await ok(s.call('POST', `${at}/messages`, { content: sh('true') }));
  return { threadId: thread.id as string, runId: run.id as string, at };
}

describe('without a worker', () => {
  test('a preparation and the first run of its thread are stuck, oldest first, once the time is over', async () => {
    const { appId } = await newApp(s);
    const first = await threadWithRun(appId);
    const second = await threadWithRun(appId);
    await ok(s.call('POST', `${second.at}/messages`, { content: sh('true') }));
    expect(await kindsOf(appId, 4)).toEqual([]);
    const found = (await stuckIn(6)).filter((one) => one.projectId === appId);
    expect(found.map(({ kind, id, threadId }) => [kind, id, threadId])).toEqual([
      ['initialization', first.threadId, first.threadId],
      ['run', first.runId, first.threadId],
      ['initialization', second.threadId, second.threadId],
      ['run', second.runId, second.threadId],
    ]);
    expect(found.map((one) => one.since)).toEqual(found.map((one) => one.since).toSorted());
    expect(found[1]).toMatchObject({
      reason: 'No worker is alive to begin it.',
      remedy: expect.stringContaining('worker'),
    });
    expect(await stuckIn(1, '&seconds=60').then((all) => all.some((one) => one.projectId === appId))).toBe(
      true,
    );
  });

  test('pages go on where the one before ended', async () => {
    const all = await stuckIn(6);
    const { clock } = s.service.ctx;
    clock.offsetMs = 6 * 60_000;
    try {
      const pages: Stuck[] = [];
      for (let cursor = '', more = true; more;) {
        const page = await ok(s.call('GET', `/api/system/stuck?limit=1${cursor}`, undefined, { cookie }));
        pages.push(...page.stuck);
        more = page.hasMore;
        cursor = `&cursor=${page.nextCursor}`;
      }
      expect(all.length).toBeGreaterThan(3);
      expect(pages).toEqual(all);
    } finally {
      clock.offsetMs = 0;
    }
  });
});

describe('with a worker', () => {
  test('what it works on is not stuck, and what waits for that neither; what a silent one had is', async () => {
    const { appId } = await newApp(s);
    const { threadId, runId, at } = await threadWithRun(appId);
    await ok(s.call('POST', `${at}/messages`, { content: sh('true') }));
    await sql`update threads set initialization_state = 'completed' where id = ${threadId}`.execute(
      s.service.ctx.db,
    );
    await sql`delete from jobs where kind = 'thread.initialize' and key = ${`thread:${threadId}`}`.execute(
      s.service.ctx.db,
    );
    await withWorker('0 seconds', async (id) => {
      await claim(`thread:${threadId}`, id);
      expect(await kindsOf(appId, 60)).toEqual([]);
    });
    await withWorker('10 minutes', async (id) => {
      await claim(`thread:${threadId}`, id);
      const found = (await stuckIn(60)).filter((one) => one.projectId === appId);
      expect(found.map(({ kind, id: of, reason }) => [kind, of, reason])).toEqual([
        ['run', runId, 'The worker that had it is gone.'],
      ]);
    });
  });

  test('what waits for a place is not stuck; what nobody takes is, unless others of its kind are worked on', async () => {
    const { appId } = await newApp(s);
    const { threadId, runId } = await threadWithRun(appId);
    const { threadId: busy } = await threadWithRun(appId);
    const { db } = s.service.ctx;
    await sql`update threads set initialization_state = 'completed' where project_id = ${appId}`.execute(db);
    await sql`delete from jobs where kind = 'thread.initialize' and key in (${`thread:${threadId}`}, ${`thread:${busy}`})`.execute(
      db,
    );
    await withWorker('0 seconds', async (id) => {
      expect(await kindsOf(appId, 60)).toContain(`run ${runId}`);
      await claim(`thread:${busy}`, id);
      expect(await kindsOf(appId, 60)).toEqual([]);
      await sql`update jobs set failures = 3 where key = ${`thread:${threadId}`}`.execute(db);
      expect((await stuckIn(60)).find((one) => one.id === runId)?.reason).toMatch(/failed 3 times/);
      await sql`update runs set held = true where id = ${runId}`.execute(db);
      expect(await kindsOf(appId, 60)).toEqual([]);
    });
  });
});

test('a build, an apply, a lost write and objects that cannot be deleted are found', async () => {
  const { appId, sourceId } = await newApp(s);
  const { ctx } = s.service;
  const threads = await Promise.all(
    [0, 1].map(async () => (await ok(s.call('POST', `${P}/apps/${appId}/threads`, {}))).thread.id as string),
  );
  const { build } = await ok(
    s.call('POST', `${P}/apps/${appId}/threads/${threads[0]}/builds`, {
      command: 'true',
      outputDirectory: '.',
    }),
  );
  const idem = 'stuck-apply';
  const { apply } = await ok(
    s.call(
      'POST',
      `${P}/apps/${appId}/threads/${threads[1]}/apply`,
      { expectedSourceId: sourceId, clientOperationId: idem },
      { idem },
    ),
  );
  await sql`update objects set attempts = 3, delete_after = now() + interval '20 seconds' where project_id = ${appId}`.execute(
    ctx.db,
  );
  const operation = await ctx.db
    .selectFrom('operations')
    .select('id')
    .where('idempotency_key', '=', idem)
    .executeTakeFirstOrThrow();
  await sql`update operations set status = 'pending', lease_until = now() where id = ${operation.id}`.execute(
    ctx.db,
  );
  const kinds = await kindsOf(appId, 60);
  expect(kinds).toEqual(
    expect.arrayContaining([
      `build ${build.id}`,
      `apply ${apply.id}`,
      `operation ${operation.id}`,
      `cleanup ${appId}`,
    ]),
  );
  await sql`update builds set held = true where id = ${build.id}`.execute(ctx.db);
  expect(await kindsOf(appId, 60)).not.toContain(`build ${build.id}`);
  await sql`update operations set status = 'succeeded' where id = ${operation.id}`.execute(ctx.db);
});

test('a deleted app whose sources are not removed is found, once the grace is over', async () => {
  const { appId } = await newApp(s);
  await ok(s.call('DELETE', `${P}/apps/${appId}`));
  expect(await kindsOf(appId, 60)).toEqual([]);
  expect(await kindsOf(appId, 66)).toEqual([`cleanup ${appId}`]);
});

test('objects of organizations are found by these, page by page', async () => {
  const { db } = s.service.ctx;
  const { organization: first } = await tenant(s);
  const { organization: second } = await tenant(s);
  const ids = [first.id, second.id].toSorted();
  for (const orgId of ids)
    for (const name of ['a', 'b'])
      await sql`insert into objects (org_id, key, attempts, delete_after) values (${orgId}, ${`organizations/${orgId}/skills/${name}`}, 3, '2026-01-01')`.execute(
        db,
      );
  const found = (await stuckIn(0)).filter(({ orgId }) => ids.includes(orgId));
  expect(found.map(({ kind, id, orgId, projectId }) => [kind, id, orgId, projectId])).toEqual(
    ids.map((id) => ['cleanup', id, id, null]),
  );
  expect((await ok(s.call('GET', '/api/system/stuck?limit=1', undefined, { cookie }))).stuck).toHaveLength(1);
  await sql`delete from objects where org_id = any(${ids}::text[])`.execute(db);
});

test('only owners and admins of the first organization read it; its query is checked', async () => {
  const { cookie: elsewhere } = await tenant(s);
  const other = await invited(s, elsewhere, 'admin');
  const [member, admin] = [await invited(s, cookie, 'member'), await invited(s, cookie, 'admin')];
  const status = async (as: { cookie?: string; key?: string | null }, query = '') =>
    (await s.call('GET', `/api/system/stuck${query}`, undefined, as)).status;
  expect(await status({ cookie: other.cookie }, '?odd=1')).toBe(403);
  expect(await status({ cookie: member.cookie })).toBe(403);
  expect(await status({ cookie: admin.cookie })).toBe(200);
  expect(await status({})).toBe(401);
  for (const wrong of ['59', '86401', '60.5', 'x'])
    expectStatus(await s.call('GET', `/api/system/stuck?seconds=${wrong}`, undefined, { cookie }), 400);
});

test('reads open rows only, by their indexes', async () => {
  const { ctx } = s.service;
  const { appId } = await newApp(s);
  const { threadId } = await threadWithRun(appId);
  // Rolled back: other tests of this file count what there is.
  await transaction(ctx, async (tx) => {
    await sql`insert into runs (org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by, created_at, started_at, finished_at)
      select r.org_id, 'run_' || lpad(n::text, 26, '0'), r.project_id, r.thread_id, 'msg_' || n, 'message', r.agent, r.model_id, 'completed', r.created_by, now(), now(), now()
      from runs r, generate_series(1, 30000) n where r.thread_id = ${threadId}`.execute(tx.db);
    await sql`insert into operations (org_id, id, actor_id, idempotency_key, fingerprint, method, path, permissions, published, status, settled_at, reserved_until)
      select org_id, 'op_' || n, 'sa_x', 'k' || n, '', 'POST', '/', '{}', false, 'succeeded', now(), now() + interval '7 days' from threads, generate_series(1, 30000) n where threads.id = ${threadId}`.execute(
      tx.db,
    );
    await sql`insert into objects (org_id, key, project_id, committed_at) select org_id, 'k/' || n, project_id, now() from threads, generate_series(1, 30000) n where threads.id = ${threadId}`.execute(
      tx.db,
    );
    await sql`analyze runs, operations, objects, threads, jobs, applies, builds`.execute(tx.db);
    for (const query of [stuckQuery(ctx, { seconds: 300, after: null, limit: 50 }), queuesQuery()]) {
      const { rows } = await sql<{
        'QUERY PLAN': string;
      }>`explain (analyze, costs off, timing off) ${query}`.execute(tx.db);
      const plan = rows.map((row) => row['QUERY PLAN']);
      expect(plan.filter((line) => /Seq Scan on (runs|operations|objects)\b/.test(line))).toEqual([]);
    }
    throw new Error('undo');
  }).catch((error: unknown) => {
    if ((error as Error).message !== 'undo') throw error;
  });
  expect(await findStuck(ctx, { seconds: 86_400, after: null, limit: 1 })).toEqual([]);
});
