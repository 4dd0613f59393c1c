import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { localProvider } from '../scm/local/provider.ts';
import { ProviderError } from '../scm/provider.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';
import { newBound } from './sync.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => s?.close());

const CURRENT = { status: 'current', reason: null, conflicts: [], error: null };
const rowOf = (id: string) =>
  s.service.ctx.db.selectFrom('pull_requests').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
/** Seconds from now on the database's clock; null where the time is not set. */
async function secondsTo(id: string, column: 'push_retry_at' | 'next_look_at'): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select extract(epoch from ${sql.ref(column)} - now())::float as seconds from pull_requests where id = ${id}`.execute(
    s.service.ctx.db,
  );
  return rows[0]!.seconds;
}
const away = (code: 'unavailable' | 'access_denied') => async () => {
  throw new ProviderError({ code }, 'not now');
};

describe('a push', () => {
  test('that finds the provider away is tried again after 5, 30, 120, then every 300 seconds, with the newest source', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { state: 'open' } });
    const transport = vi.spyOn(localProvider, 'gitTransport').mockImplementation(away('unavailable'));
    await d.edit({ 'c.txt': '1\n' });
    for (const [n, seconds] of [5, 30, 120, 300, 300].entries()) {
      await vi.waitFor(async () => expect((await rowOf(pr.id)).push_attempts).toBe(n + 1), 10_000);
      const left = (await secondsTo(pr.id, 'push_retry_at'))!;
      expect([left > seconds - 3, left <= seconds], `${left} of ${seconds}`).toEqual([true, true]);
      expect((await d.pr(pr.id)).push).toEqual({ ...CURRENT, status: 'pending' });
      // Its time has come.
      await sql`update pull_requests set push_retry_at = now(), next_look_at = now() where id = ${pr.id}`.execute(
        s.service.ctx.db,
      );
    }
    const source = await d.edit({ 'c.txt': '2\n' });
    transport.mockRestore();
    await sql`update pull_requests set push_retry_at = now(), next_look_at = now() where id = ${pr.id}`.execute(
      s.service.ctx.db,
    );
    const pushed = await d.shows(pr.id, { push: CURRENT, headSourceId: source.id });
    expect(await d.git('rev-list', '--count', `main..${pushed.headRef}`)).toBe('2');
    expect(await d.git('show', `${pushed.headRef}:c.txt`)).toBe('2');
  });

  test('that is refused has failed, until a newer source or a caller tries again', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    const transport = vi.spyOn(localProvider, 'gitTransport').mockImplementation(away('access_denied'));
    await d.edit({ 'c.txt': '1\n' });
    const failed = await d.shows(pr.id, { push: { status: 'failed', error: { code: 'access_denied' } } });
    await d.edit({ 'c.txt': '2\n' });
    await until('the newer source is refused', async () => (await d.pr(pr.id)).version >= failed.version + 2);
    transport.mockRestore();
    const { pullRequest } = await ok(s.call('POST', `${d.prs}/${pr.id}/sync`, {}));
    expect(pullRequest.push).toEqual({ ...CURRENT, status: 'pending' });
    await d.shows(pr.id, { push: CURRENT, headSourceId: (await d.threadNow()).latestSourceId });
  });

  test('begins by itself only for an organization that has source control', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { state: 'open' } });
    const { db } = s.service.ctx;
    const take = (without: string[]) => db.updateTable('organizations').set({ without }).execute();
    const head = await d.git('rev-parse', pr.headRef);
    await take(['sourceControl']);
    try {
      await d.edit({ 'c.txt': '1\n' });
      const { looked_at: before } = await rowOf(pr.id);
      await sql`update pull_requests set next_look_at = now() where id = ${pr.id}`.execute(db);
      await until('its jobs are over', async () => {
        const { rows } = await sql`
          select from jobs where payload->>'pullRequestId' = ${pr.id}
          union all select from pull_requests where id = ${pr.id} and next_look_at <= now()`.execute(db);
        return rows.length === 0;
      });
      expect(await d.git('rev-parse', pr.headRef)).toBe(head);
      expect(await rowOf(pr.id)).toMatchObject({ looked_at: before, push_status: 'current' });
    } finally {
      await take([]);
    }
    await sql`update pull_requests set next_look_at = now() where id = ${pr.id}`.execute(db);
    await d.shows(pr.id, { push: CURRENT, headSourceId: (await d.threadNow()).latestSourceId });
  });

  test('to a branch that is gone fails, and makes no new one', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.git('update-ref', '-d', `refs/heads/${pr.headRef}`);
    await d.edit({ 'c.txt': '1\n' });
    await d.shows(pr.id, { push: { status: 'failed', error: { code: 'branch_gone' } } });
    expect(await d.branches()).toEqual(['main']);
  });

  test('whose end was not written down is found on the branch, and not made again', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    const isNoted = (id: string) => rowOf(id).then((row) => row.pushing_sha !== null);
    // The process ends between the push and the note of its end: the note of its beginning stays.
    const { ctx } = s.service;
    const source = await d.edit({ 'c.txt': '1\n' });
    const pushed = await d.shows(pr.id, { headSourceId: source.id });
    expect(await isNoted(pr.id)).toBe(false);
    await sql`update pull_requests set head_sha = ${pr.headSha}, head_source_id = ${pr.headSourceId}, push_status = 'pending',
      pushing_sha = ${pushed.headSha}, pushing_source_id = ${source.id} where id = ${pr.id}`.execute(ctx.db);
    await ok(s.call('POST', `${d.prs}/${pr.id}/sync`, {}));
    await d.shows(pr.id, { headSha: pushed.headSha, headSourceId: source.id, push: CURRENT });
    expect(await d.git('rev-list', '--count', `main..${pr.headRef}`)).toBe('2');
  });

  test('is made for no archived thread, and follows once the thread is unarchived', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false }));
    const source = await d.edit({ 'c.txt': '1\n' });
    await ok(s.call('PATCH', `/api/threads/${d.threadId}`, { archived: true }));
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: true }));
    const before = (await rowOf(pr.id)).looked_at;
    await ok(s.call('POST', `${d.prs}/${pr.id}/sync`, {}));
    await until('it is looked at', async () => (await rowOf(pr.id)).looked_at! > before!);
    expect(await d.git('rev-parse', pr.headRef)).toBe(pr.headSha);
    await ok(s.call('PATCH', `/api/threads/${d.threadId}`, { archived: false }));
    await ok(s.call('POST', `${d.prs}/${pr.id}/sync`, {}));
    await d.shows(pr.id, { headSourceId: source.id });
  });
});

test('a push that is refused once the pull request is merged leaves nothing', async () => {
  const d = await newBound(s);
  const pr = await d.open();
  const underWay = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const transport = vi.spyOn(localProvider, 'gitTransport').mockImplementation(async () => {
    underWay.resolve();
    await goesOn.promise;
    throw new ProviderError({ code: 'access_denied' }, 'not now');
  });
  await d.edit({ 'c.txt': '1\n' });
  await underWay.promise;
  const { pullRequest } = await ok(s.call('POST', `${d.prs}/${pr.id}/merge`, {}));
  const before = (await rowOf(pr.id)).looked_at;
  goesOn.resolve();
  await until('it is looked at', async () => (await rowOf(pr.id)).looked_at! > before!);
  transport.mockRestore();
  expect(await d.pr(pr.id)).toMatchObject({
    state: 'merged',
    headSha: pullRequest.headSha,
    push: CURRENT,
    version: pullRequest.version + 1,
  });
});

test('a caller tries again what has failed, also where the thread has nothing newer', async () => {
  const d = await newBound(s);
  const pr = await d.open();
  await d.shows(pr.id, { scmSummary: { state: 'open' } });
  await sql`update pull_requests set push_status = 'failed', push_error = '{"code":"repository_too_large","message":"x"}'
    where id = ${pr.id}`.execute(s.service.ctx.db);
  await ok(s.call('POST', `${d.prs}/${pr.id}/sync`, {}));
  await d.shows(pr.id, { push: CURRENT });
});

describe('a look', () => {
  test('that finds a pull request open again pushes what its thread has', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'closed' }));
    const source = await d.edit({ 'c.txt': '1\n' });
    const there = `/api/source-control/scm/repositories/${d.repositoryId}/pull-requests/${pr.number as number}`;
    await ok(s.call('PATCH', there, { state: 'open' }));
    await d.shows(pr.id, { state: 'open', push: CURRENT, headSourceId: source.id });
  });

  test('at what the provider cannot say yet follows after 2, 5, 10 and 30 seconds, then with the polls', async () => {
    const d = await newBound(s);
    const original = localProvider.getPullRequest;
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
    // A look that is under way sees what the provider has said before.
    const keys = [`pull-request:${pr.id}`, `look:${d.repositoryId}`];
    const jobs = s.service.ctx.db.selectFrom('jobs').select('id').where('key', 'in', keys);
    await until('no look is under way', async () => (await jobs.execute()).length === 0);
    vi.spyOn(localProvider, 'getPullRequest').mockImplementation(async (...args) => ({
      ...(await original(...args)),
      mergeable: 'unknown',
    }));
    for (const [n, seconds] of [2, 5, 10, 30, 300].entries()) {
      await sql`update pull_requests set next_look_at = now() where id = ${pr.id}`.execute(s.service.ctx.db);
      await vi.waitFor(async () => expect((await rowOf(pr.id)).unknown_looks).toBe(n + 1), 10_000);
      const left = (await secondsTo(pr.id, 'next_look_at'))!;
      expect([left > seconds - 2.5, left <= seconds], `${left} of ${seconds}`).toEqual([true, true]);
    }
  });

  test('at a commit that the provider does not know yet sees no checks', async () => {
    const d = await newBound(s);
    vi.spyOn(localProvider, 'listChecks').mockRejectedValue(
      new ProviderError({ code: 'not_found', what: 'commit' }, 'there is no such commit'),
    );
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { checks: { total: 0 }, checksAvailable: true } });
  });

  test('at a new pull request, or one that is open again, follows also where its job is lost', async () => {
    const d = await newBound(s);
    vi.spyOn(localProvider, 'listChecks').mockRejectedValue(new Error('broken'));
    const pr = await d.open();
    const inTime = async () => {
      const left = await secondsTo(pr.id, 'next_look_at');
      return left !== null && left > 280;
    };
    expect(await inTime()).toBe(true);
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'closed' }));
    // The repository's own look may have made it due meanwhile.
    await sql`update pull_requests set next_look_at = null where id = ${pr.id}`.execute(s.service.ctx.db);
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'open' }));
    await until('a look is planned', inTime);
  });

  test('that read the provider before a write of ours takes nothing of it back', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
    const original = localProvider.getPullRequest;
    const hasRead = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    vi.spyOn(localProvider, 'getPullRequest').mockImplementationOnce(async (...args) => {
      const pull = await original(...args);
      hasRead.resolve();
      await goesOn.promise;
      return pull;
    });
    await ok(s.call('POST', `${d.prs}/${pr.id}/sync`, {}));
    await hasRead.promise;
    const { pullRequest } = await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { title: 'Ours' }));
    const before = (await rowOf(pr.id)).looked_at;
    goesOn.resolve();
    await until('it is looked at', async () => (await rowOf(pr.id)).looked_at! > before!);
    expect(await d.pr(pr.id)).toMatchObject({ title: 'Ours', version: pullRequest.version });
  });

  test('is no longer made for a deleted thread', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
    await ok(s.call('DELETE', `/api/threads/${d.threadId}`));
    await sql`update pull_requests set next_look_at = now() where id = ${pr.id}`.execute(s.service.ctx.db);
    await until('nothing is due', async () => (await secondsTo(pr.id, 'next_look_at')) === null);
    expect(await d.pulls()).toMatchObject([{ state: 'open' }]);
  });
});

test('a head that cannot follow a merge, since the provider is away, follows later', async () => {
  const d = await newBound(s);
  const { db } = s.service.ctx;
  const pr = await d.open();
  await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
  const original = localProvider.resolveRef;
  const refs = vi.spyOn(localProvider, 'resolveRef').mockImplementation(async (at, ref) => {
    if (ref === 'main') throw new ProviderError({ code: 'unavailable' }, 'not now');
    return original(at, ref);
  });
  const { pullRequest } = await ok(s.call('POST', `${d.prs}/${pr.id}/merge`, {}));
  const key = `project-head:${d.projectId}`;
  const laterJobs = () =>
    db
      .selectFrom('jobs')
      .select('payload')
      .where('key', '=', key)
      .where('run_at', '>', sql<Date>`now()`)
      .execute();
  await vi.waitFor(
    async () => expect(await laterJobs()).toEqual([{ payload: { pullRequestId: pr.id, tries: 1 } }]),
    10_000,
  );
  refs.mockRestore();
  await sql`update jobs set run_at = now() where key = ${key}`.execute(db);
  await vi.waitFor(async () => {
    const { project } = await ok(s.call('GET', `/api/projects/${d.projectId}`));
    expect(project.headCommitSha).toBe(pullRequest.mergeCommitSha);
  }, 10_000);
});

test('a call that waits is answered with the next version', async () => {
  const d = await newBound(s);
  const pr = await d.open();
  const { version } = await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
  const began = Date.now();
  const waits = ok(s.call('GET', `${d.prs}/${pr.id}?afterVersion=${version}&waitSeconds=20`));
  await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { title: 'Another' }));
  expect((await waits).pullRequest).toMatchObject({ version: version + 1, title: 'Another' });
  expect(Date.now() - began).toBeLessThan(10_000);
});
