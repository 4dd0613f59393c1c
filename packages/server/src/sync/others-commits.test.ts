import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newAccount, signedIn } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';
import { commitAsOther } from './others-commits.fixture.ts';
import { patching } from './patch-pull-request.ts';
import { newBound } from './sync.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => s?.close());

type Bound = Awaited<ReturnType<typeof newBound>>;
type Pull = Awaited<ReturnType<Bound['open']>>;

const CURRENT = { status: 'current', reason: null, conflicts: [], error: null };
const post = (d: Bound, pr: Pull, piece: string, body: object = {}) =>
  s.call('POST', `${d.prs}/${pr.id}/${piece}`, body);
const sync = (d: Bound, pr: Pull, body: object = {}) => ok(post(d, pr, 'sync', body));
const theirs = (d: Bound, pr: Pull, files: Record<string, string | null>, message?: string) =>
  commitAsOther(s, {
    repositoryId: d.repositoryId,
    branch: pr.headRef,
    files,
    ...(message ? { message } : {}),
  });
const listed = async (d: Bound, what: string) =>
  (await ok(s.call('GET', `/api/threads/${d.threadId}/${what}`)))[what];
const filesAt = async (d: Bound, commit: string) =>
  (await d.git('ls-tree', '-r', '--name-only', commit)).split('\n');
const parentsOf = async (d: Bound, commit: string) =>
  (await d.git('log', '-1', '--format=%P', commit)).split(' ');

/** A pull request with `ours` unpushed, and `others` on its branch. */
async function apart(ours: Record<string, string>, others: Record<string, string>) {
  const d = await newBound(s);
  const pr = await d.open();
  await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false }));
  const draft = await d.edit(ours);
  const tip = await theirs(d, pr, others);
  return { d, pr, draft, tip };
}

describe("others' commits", () => {
  test('are taken over: latest source, checkpoint, a message with their subjects', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await theirs(d, pr, { 'theirs.txt': '1\n' }, 'First `of` two\n\nWith a body.');
    const tip = await theirs(d, pr, { 'theirs.txt': '2\n', 'b.txt': null }, 'Second');
    await sync(d, pr);
    const now = await d.shows(pr.id, { headSha: tip, push: CURRENT });
    const { latestSourceId } = await d.threadNow();
    const [checkpoint] = await listed(d, 'checkpoints');
    const notes = (await listed(d, 'messages')).map((m: Pull) => [m.role, m.content]);
    expect([now.headSourceId, checkpoint.sourceId, checkpoint.kind]).toEqual([
      latestSourceId,
      latestSourceId,
      'edit',
    ]);
    expect(notes).toEqual([['system', "2 commits from the branch: First 'of' two, Second"]]);
    // What follows is committed upon theirs.
    await d.edit({ 'ours.txt': 'ours\n' });
    const after = await d.shows(pr.id, { headSourceId: (await d.threadNow()).latestSourceId, push: CURRENT });
    expect(await parentsOf(d, after.headSha)).toEqual([tip]);
    expect(await filesAt(d, after.headSha)).toEqual(['a.txt', 'ours.txt', 'theirs.txt']);
  });

  test('wait for a run to end, and are taken over then without news of them', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(
      s.call('POST', `/api/threads/${d.threadId}/messages`, {
        content: '```sh\nuntil [ -e go ]; do sleep 0.1; done\n```',
      }),
    );
    await until('the run', async () => (await d.threadNow()).status === 'running');
    const tip = await theirs(d, pr, { 'theirs.txt': '1\n' });
    await sync(d, pr);
    await d.shows(pr.id, { scmSummary: { state: 'open' } });
    expect((await d.pr(pr.id)).headSha).toBe(pr.headSha);
    await ok(s.call('POST', `/api/threads/${d.threadId}/stop`, {}));
    await d.shows(pr.id, { headSha: tip, push: CURRENT });
  });

  test('that came before a pull request was closed are taken over once it is open again', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.shows(pr.id, { scmSummary: { state: 'open' } });
    const tip = await theirs(d, pr, { 'theirs.txt': '1\n' });
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'closed' }));
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'open' }));
    const now = await d.shows(pr.id, { headSha: tip, push: CURRENT });
    const { latestSourceId } = await d.threadNow();
    expect([now.headSourceId, latestSourceId === pr.headSourceId]).toEqual([latestSourceId, false]);
  });

  test('are merged with what is unpushed, once, also where a worker dies amid it', async () => {
    const { d, pr, draft, tip } = await apart({ 'ours.txt': 'ours\n' }, { 'theirs.txt': 'theirs\n' });
    vi.spyOn(s.service.ctx.merger, 'merge').mockRejectedValueOnce(new Error('killed'));
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: true }));
    await until('both on the branch', async () => {
      const now = await d.pr(pr.id);
      return now.push.status === 'current' && ![tip, pr.headSha].includes(now.headSha);
    });
    const now = await d.pr(pr.id);
    const { sources } = await ok(s.call('GET', `/api/projects/${d.projectId}/sources`));
    const merged = sources.filter((one: Pull) => one.origin === 'apply');
    const their = sources.find((one: Pull) => one.commit?.sha === tip);
    expect(merged.map((one: Pull) => [one.id, one.parentSourceIds])).toEqual([
      [now.headSourceId, [their.id, draft.id]],
    ]);
    expect(await parentsOf(d, now.headSha)).toEqual([tip]);
    expect(await filesAt(d, now.headSha)).toEqual(['a.txt', 'b.txt', 'ours.txt', 'theirs.txt']);
  });

  test('hide no run from the commit that has its change', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false }));
    const { run } = await ok(
      s.call('POST', `/api/threads/${d.threadId}/messages`, { content: '```file ours.txt\n1\n```' }),
    );
    await until('the run', async () => (await listed(d, 'runs'))[0].status === 'completed');
    const tip = await theirs(d, pr, { 'theirs.txt': 'theirs\n' });
    await sync(d, pr);
    const now = await until('both on the branch', async () => {
      const shown = await d.pr(pr.id);
      return shown.push.status === 'current' && ![tip, pr.headSha].includes(shown.headSha) ? shown : null;
    });
    const [parent, ...runs] = (
      await d.git('log', '-1', '--format=%P %(trailers:key=Headrace-Run,valueonly)', now.headSha)
    ).split(' ');
    expect([parent, runs]).toEqual([tip, [run.id]]);
  });

  test.each(['branch', 'thread'] as const)(
    'in conflict diverge, until a caller takes the %s',
    async (take) => {
      const { d, pr, draft, tip } = await apart({ 'a.txt': 'ours\n' }, { 'a.txt': 'theirs\n' });
      await sync(d, pr);
      await d.shows(pr.id, {
        push: { status: 'diverged', reason: 'conflict', conflicts: ['a.txt'], error: null },
      });
      expect((await d.threadNow()).latestSourceId).toBe(draft.id);
      expect((await post(d, pr, 'update-branch')).body.error.code).toBe('conflict');
      await sync(d, pr, { take });
      const now = await d.shows(pr.id, { push: CURRENT });
      expect(now.headSourceId).toBe((await d.threadNow()).latestSourceId);
      expect(await d.git('show', `${now.headSha}:a.txt`)).toBe(take === 'branch' ? 'theirs' : 'ours');
      if (take === 'thread') expect(await parentsOf(d, now.headSha)).toEqual([tip]);
      else {
        expect(now.headSha).toBe(tip);
        expect((await listed(d, 'checkpoints')).some((one: Pull) => one.sourceId === draft.id)).toBe(true);
      }
      expect((await post(d, pr, 'sync', { take })).body.error.code).toBe('conflict');
    },
  );

  test('that rewrite the branch are never pushed over', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    const tip = await commitAsOther(s, {
      repositoryId: d.repositoryId,
      branch: pr.headRef,
      files: { 'r.txt': 'r\n' },
      from: 'refs/heads/main^0',
    });
    await d.edit({ 'ours.txt': 'ours\n' });
    await d.shows(pr.id, { push: { status: 'diverged', reason: 'rewritten' } });
    expect(await d.git('rev-parse', pr.headRef)).toBe(tip);
    await sync(d, pr, { take: 'thread' });
    const now = await d.shows(pr.id, { push: CURRENT });
    expect(await parentsOf(d, now.headSha)).toEqual([tip]);
  });
});

describe('an update from the base', () => {
  const base = (d: Bound, files: Record<string, string | null>) =>
    commitAsOther(s, { repositoryId: d.repositoryId, branch: 'main', files });
  const update = async (d: Bound, pr: Pull, conflictResolution = 'agent') => {
    await ok(post(d, pr, 'update-branch', { conflictResolution }));
    await until('the update to end', async () => (await d.pr(pr.id)).update.status !== 'running');
    return d.pr(pr.id);
  };

  test('is a commit with both parents, pushed also without autoPush, and has what no source can hold', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false }));
    const baseSha = await base(d, { 'base.txt': 'base\n', link: '->base.txt' });
    vi.spyOn(s.service.ctx.merger, 'merge').mockRejectedValueOnce(new Error('killed'));
    const done = await update(d, pr);
    expect(done.update).toEqual({ status: 'done', baseSha, conflicts: [], error: null });
    const now = await d.shows(pr.id, { push: CURRENT, headSourceId: (await d.threadNow()).latestSourceId });
    expect(await parentsOf(d, now.headSha)).toEqual([pr.headSha, baseSha]);
    expect(await filesAt(d, now.headSha)).toEqual(['a.txt', 'b.txt', 'base.txt', 'link']);
    const again = await update(d, pr);
    expect([again.update.status, again.headSha]).toEqual(['done', now.headSha]);
  });

  test('with conflicts ends conflicted: manual, without an agent, and in what no source can hold', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await theirs(d, pr, { link: '->a.txt', 'a.txt': 'ours\n' });
    const baseSha = await base(d, { link: '->b.txt', 'a.txt': 'theirs\n' });
    const manual = await update(d, pr, 'manual');
    expect(manual.update).toEqual({
      status: 'conflicted',
      baseSha,
      conflicts: ['a.txt', 'link'],
      error: null,
    });
    expect((await update(d, pr)).update).toMatchObject({
      status: 'conflicted',
      error: { code: 'unresolved' },
    });
    await base(d, { link: null });
    await theirs(d, pr, { link: null });
    expect((await update(d, pr)).update).toMatchObject({
      status: 'conflicted',
      conflicts: ['a.txt'],
      error: { code: 'not_configured' },
    });
    expect(await listed(d, 'runs')).toEqual([]);
  });

  describe('keeps the base of what was before it:', () => {
    /** A thread with a change, and another after an update; and its checkpoints, oldest first. */
    async function updated() {
      const d = await newBound(s);
      const first = (await d.threadNow()).baseCommitSha;
      const pr = await d.open();
      const baseSha = await base(d, { 'a.txt': 'theirs\n', 'base.txt': 'base\n' });
      await update(d, pr);
      const checkpoints: Pull[] = (await listed(d, 'checkpoints')).toReversed();
      return { d, first, baseSha, checkpoints };
    }
    const fork = (d: Bound, body: object) => s.call('POST', `/api/threads/${d.threadId}/fork`, body);
    const forgetBases = (d: Bound) =>
      s.service.ctx.db
        .updateTable('checkpoints')
        .set({ base_commit_sha: null })
        .where('thread_id', '=', d.threadId)
        .execute();

    test("a fork of an older checkpoint undoes nothing of the base's", async () => {
      const { d, first, baseSha, checkpoints } = await updated();
      expect(checkpoints).toHaveLength(2);
      const bases = [];
      for (const { id: checkpointId } of checkpoints) {
        const { thread } = await ok(fork(d, { checkpointId }));
        bases.push(thread.baseCommitSha);
        const { pullRequest } = await ok(s.call('POST', `/api/threads/${thread.id}/pull-requests`, {}));
        const [tree] = (await d.git('merge-tree', '--write-tree', 'main', pullRequest.headRef)).split('\n');
        expect(await filesAt(d, tree!)).toEqual(['a.txt', 'b.txt', 'base.txt']);
        expect(await d.git('show', `${tree}:a.txt`)).toBe('theirs');
      }
      expect(bases).toEqual([first, baseSha]);
    });

    test('of what an older version kept without its base, only what has no other is forked', async () => {
      const { d, baseSha, checkpoints } = await updated();
      await forgetBases(d);
      const [{ id: checkpointId }] = checkpoints;
      expect((await fork(d, { checkpointId })).body.error.code).toBe('conflict');
      expect((await ok(fork(d, {}))).thread.baseCommitSha).toBe(baseSha);
      const other = await newBound(s);
      await forgetBases(other);
      const [{ id }] = await listed(other, 'checkpoints');
      const { thread } = await ok(fork(other, { checkpointId: id }));
      expect(thread.baseCommitSha).toBe((await other.threadNow()).baseCommitSha);
    });
  });

  const report = (status: string) =>
    `echo '{"status": "${status}", "summary": "Read both.", "checks": []}' > .hoplite/repair/report.json`;
  test.each([
    ['resolved', 'done', null],
    ['unresolved', 'conflicted', 'unresolved'],
  ])('is repaired by one run of the agent, which reports %s', async (status, end, code) => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.edit({ 'a.txt': 'ours\n' });
    await d.shows(pr.id, { push: CURRENT, headSourceId: (await d.threadNow()).latestSourceId });
    const baseSha = await base(d, { 'a.txt': 'theirs\n' });
    const script = `echo both > a.txt\n${report(status)}`;
    await ok(
      s.call('PATCH', `/api/projects/${d.projectId}`, { metadata: { 'headrace.repairScript': script } }),
    );
    const before = await d.pr(pr.id);
    const { update: ended } = await update(d, pr);
    expect([ended.status, ended.baseSha, ended.error?.code ?? null]).toEqual([end, baseSha, code]);
    expect((await listed(d, 'runs')).map((run: Pull) => [run.kind, run.status])).toEqual([
      ['repair', 'completed'],
    ]);
    if (end !== 'done') return expect(ended.conflicts).toEqual(['a.txt']);
    const now = await d.shows(pr.id, { push: CURRENT, headSourceId: (await d.threadNow()).latestSourceId });
    expect(await parentsOf(d, now.headSha)).toEqual([before.headSha, baseSha]);
    return expect(await d.git('show', `${now.headSha}:a.txt`)).toBe('both');
  });

  test('whose repair is stopped ends conflicted', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await d.edit({ 'a.txt': 'ours\n' });
    await base(d, { 'a.txt': 'theirs\n' });
    const metadata = { 'headrace.repairScript': 'until [ -e never ]; do sleep 0.1; done' };
    await ok(s.call('PATCH', `/api/projects/${d.projectId}`, { metadata }));
    await ok(post(d, pr, 'update-branch'));
    await until('the repair', async () => (await d.threadNow()).status === 'running');
    expect((await post(d, pr, 'update-branch')).body.error.reason).toBe('run');
    await ok(s.call('POST', `/api/threads/${d.threadId}/stop`, {}));
    await d.shows(pr.id, { update: { status: 'conflicted', error: { code: 'cancelled' } } });
  });
});

describe('a pull request that is there', () => {
  test('of another project is not taken over with a restricted key, which does not see its thread', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    const { project } = await ok(
      s.call('POST', '/api/projects', { name: 'Other', repositoryId: d.repositoryId }),
    );
    const { key } = await newAccount(s, await signedIn(s), { projectIds: [project.id] });
    const call = (method: string, path: string, body?: unknown) => s.call(method, path, body, { key });
    const { thread } = await ok(call('POST', '/api/threads', { projectId: project.id, title: 'Heir' }));
    const at = `/api/threads/${thread.id as string}`;
    await until('the heir', async () => (await ok(call('GET', at))).thread.baseCommitSha !== null);
    const taken = await call('POST', `${at}/pull-requests`, { number: pr.number });
    expect([taken.status, taken.body.error?.code]).toEqual([404, 'pull_request_not_found']);
    expect((await d.pr(pr.id)).autoPush).toBe(true);
    const pulls = `/api/source-control/scm/repositories/${d.repositoryId}/pull-requests`;
    const threads = [];
    for (const [method, path, body] of [
      ['GET', `${pulls}/${pr.number}`],
      ['PATCH', `${pulls}/${pr.number}`, { title: 'Another' }],
    ] as const)
      threads.push((await ok(call(method, path, body))).pullRequest.threadId);
    threads.push((await ok(call('GET', pulls))).pullRequests[0].threadId);
    expect(threads).toEqual([null, null, null]);
    expect((await d.pulls())[0]!.threadId).toBe(d.threadId);
  });

  test('is taken over by its number, with its branch; a thread that had it only shows it', async () => {
    const d = await newBound(s);
    const pr = await d.open({ reviewLoop: { enabled: true } });
    const { thread } = await ok(s.call('POST', '/api/threads', { projectId: d.projectId, title: 'Heir' }));
    const at = `/api/threads/${thread.id as string}`;
    await until('the heir', async () => (await ok(s.call('GET', at))).thread.baseCommitSha !== null);
    expect((await s.call('POST', `${at}/pull-requests`, { number: 999 })).body.error.code).toBe(
      'pull_request_not_found',
    );
    const both = await s.call('POST', `${at}/pull-requests`, { number: pr.number, title: 'x' });
    expect(both.body.error.fields.map((f: Pull) => f.path)).toEqual(['/title']);
    const { pullRequest } = await ok(s.call('POST', `${at}/pull-requests`, { number: pr.number }));
    expect([pullRequest.number, pullRequest.headSourceId, pullRequest.id === pr.id]).toEqual([
      pr.number,
      null,
      false,
    ]);
    const former = await d.pr(pr.id);
    expect([former.autoPush, former.state, former.reviewLoop.status, former.reviewLoop.disabledBy]).toEqual([
      false,
      'open',
      'disabled',
      'transferred',
    ]);
    await until('its branch to be taken over', async () => {
      const [mine, now] = await Promise.all([
        ok(s.call('GET', `${at}/pull-requests/${pullRequest.id as string}`)),
        ok(s.call('GET', at)),
      ]);
      return (
        mine.pullRequest.headSourceId === now.thread.latestSourceId &&
        now.thread.latestSourceId !== thread.sourceId
      );
    });
    for (const [path, body] of [
      ['update-branch', {}],
      ['review-loop', { enabled: true }],
    ] as const) {
      const method = path === 'review-loop' ? 'PATCH' : 'POST';
      expect((await s.call(method, `${d.prs}/${pr.id}/${path}`, body)).body.error.code).toBe('conflict');
    }
    await d.edit({ 'former.txt': 'former\n' });
    await sync(d, pr);
    await d.shows(pr.id, { push: CURRENT });
    expect(await d.git('rev-parse', pr.headRef)).toBe(pr.headSha);
  });

  test('is decided on by the thread that has it alone', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await sql`update pull_requests set transferred_at = now(), push_status = 'diverged' where id = ${pr.id}`.execute(
      s.service.ctx.db,
    );
    expect((await post(d, pr, 'sync', { take: 'thread' })).body.error.code).toBe('conflict');
  });

  test('that is closed, or goes to another branch than the thread began from, is refused', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'closed' }));
    expect((await s.call('POST', d.prs, { number: pr.number })).body.error.code).toBe('conflict');
    await commitAsOther(s, {
      repositoryId: d.repositoryId,
      branch: 'release',
      files: {},
      from: 'refs/heads/main^0',
    });
    const pulls = `/api/source-control/scm/repositories/${d.repositoryId}/pull-requests`;
    const { pullRequest } = await ok(
      s.call('POST', pulls, { title: 'x', headRef: pr.headRef, baseRef: 'release' }),
    );
    expect((await s.call('POST', d.prs, { number: pullRequest.number })).body.error.code).toBe('conflict');
  });
});

describe('a review loop', () => {
  const patch = (d: Bound, pr: Pull, body: object) => s.call('PATCH', `${d.prs}/${pr.id}/review-loop`, body);

  test('keeps the autoPush that it needs, even if it is enabled while autoPush is being switched off', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    vi.spyOn(patching, 'act').mockImplementationOnce(async () => {
      await ok(patch(d, pr, { enabled: true }));
      return { pull: null };
    });
    const { pullRequest } = await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false }));
    expect([pullRequest.autoPush, pullRequest.reviewLoop.enabled]).toEqual([true, true]);
  });

  test('is enabled with autoPush and disabled again, counted once for each change', async () => {
    const d = await newBound(s);
    const pr = await d.open();
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false }));
    await d.shows(pr.id, { scmSummary: { state: 'open' } });
    const { pullRequest: on } = await ok(patch(d, pr, { enabled: true }));
    expect([on.autoPush, on.reviewLoop.enabled, on.reviewLoop.status, on.reviewLoop.passCount]).toEqual([
      true,
      true,
      'observing',
      0,
    ]);
    expect((await ok(patch(d, pr, { enabled: true }))).pullRequest.version).toBe(on.version);
    expect((await s.call('PATCH', `${d.prs}/${pr.id}`, { autoPush: false })).body.error.code).toBe(
      'conflict',
    );
    const { pullRequest: off } = await ok(patch(d, pr, { enabled: false, autoMerge: true }));
    expect([off.reviewLoop.status, off.reviewLoop.disabledBy, off.reviewLoop.autoMerge]).toEqual([
      'disabled',
      'user',
      true,
    ]);
    await ok(s.call('PATCH', `${d.prs}/${pr.id}`, { state: 'closed' }));
    expect((await patch(d, pr, { enabled: true })).body.error.code).toBe('pull_request_not_open');
  });
});
