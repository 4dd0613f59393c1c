import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newAccount, signedIn } from '../accounts/callers.fixture.ts';
import { commitFiles } from '../git/git.fixture.ts';
import { commitTree } from '../git/merge-commits.ts';
import { runGit } from '../git/run-git.ts';
import { newThread, record } from '../pull-requests/records.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { localFolder } from './local/folders.ts';
import { lookAtRepository } from './local/look-repository.job.ts';
import { openRepository } from './open-repository.ts';
import { refreshLocalPullRequests } from './local/refresh-pull.ts';

const REPOSITORIES = '/api/source-control/scm/repositories';
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

let id: string, folder: string;
/** A repository whose branch `work` changes one file and adds another. */
beforeEach(async () => {
  const { body } = await s.call('POST', REPOSITORIES, {
    name: `r-${randomUUID()}`,
    files: [
      { path: 'a', content: 'one\n' },
      { path: 'b', content: 'b\n' },
    ],
  });
  ({ id } = body.repository);
  folder = localFolder(s.service.ctx.config, id);
  await push('work', { a: 'two\n', b: 'b\n', c: 'c\n' }, 'main');
});
const git = async (...args: string[]) => (await runGit(folder, args)).output.toString('utf8').trim();
const merged = async (parents: string[], of: string) =>
  commitTree(folder, {
    tree: await git('rev-parse', `${of}^{tree}`),
    parents,
    message: 'By hand',
    person: { name: 'Ada', email: 'ada@example.test' },
    date: new Date(),
    signingKey: null,
  });
/** A commit upon a branch, which begins at `from` where it is not there. */
async function push(branch: string, files: Record<string, string>, from?: string, message = `To ${branch}`) {
  if (from) await git('update-ref', `refs/heads/${branch}`, await git('rev-parse', `refs/heads/${from}`));
  const all = Object.entries(files).map(([path, content]) => ({ path, content }));
  return commitFiles(folder, branch, all, message);
}
const scm = (method: string, path: string, body?: unknown, idem?: string) =>
  s.call(method, `${REPOSITORIES}/${id}${path}`, body, idem ? { idem } : {});
const open = async (fields: Record<string, unknown> = {}) => {
  const answer = await scm('POST', '/pull-requests', { title: 'A change', headRef: 'work', ...fields });
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return answer.body.pullRequest;
};
const now = async (number = 1) => (await scm('GET', `/pull-requests/${number}`)).body.pullRequest;
const merge = (body: unknown = {}, idem?: string) => scm('POST', '/pull-requests/1/merge', body, idem);
const codeOf = ({ status, body }: TestAnswer) => [status, body.error?.code, body.error?.reason];

test('a push, a status, a comment and a changed repository have looked at what they concern', async () => {
  const { ctx } = s.service;
  await push('other', { a: 'three\n', b: 'b\n' }, 'main');
  /** Each has a thread, whose record agrees with the pull request. */
  const records: string[] = [];
  for (const headRef of ['work', 'other']) {
    const { number, headSha, title, body } = await open({ headRef });
    const fields = { repository_id: id, number, head_ref: headRef, head_sha: headSha, title, body };
    records.push(await record(ctx, await newThread(s), fields));
  }
  const looked = async (moved: object = {}) => {
    const enqueuedAt = new Date();
    const concerned = await lookAtRepository(ctx, { payload: { repositoryId: id, ...moved }, enqueuedAt });
    await sql`
      update pull_requests p set head_sha = l.head_sha, scm_summary = json_build_object('mergeable', l.mergeable)
      from local_pull_requests l where l.repository_id = p.repository_id and l.number = p.number`.execute(
      ctx.db,
    );
    await sql`update repositories set updated_at = ${new Date(0)} where id = ${id}`.execute(ctx.db);
    return concerned;
  };
  const enqueued = async () => {
    const { rows } = await sql<{ payload: { pullRequestId: string } }>`
      with gone as (delete from jobs where kind = 'pull-request.sync' returning payload) select * from gone`.execute(
      ctx.db,
    );
    return rows.map(({ payload }) => payload.pullRequestId);
  };
  expect(await looked()).toEqual([1, 2]);
  expect(await looked()).toEqual([]);
  const head = await push('other', { a: 'four\n', b: 'b\n' });
  expect(await looked()).toEqual([2]);
  expect(await looked({ commitSha: head })).toEqual([2]);
  expect([await looked({ branch: 'work' }), await looked({ branch: 'main' })]).toEqual([[1], [1, 2]]);
  expect([await looked({ number: 1 }), await looked({ branch: 'nowhere' })]).toEqual([[1], []]);
  expect(await enqueued()).toEqual([]);
  await scm('POST', `/commits/${head}/statuses`, { context: 'ci', state: 'success' });
  expect(await enqueued()).toEqual([records[1]]);
  const { body } = await scm('POST', '/pull-requests/1/comments', { body: 'Why?' });
  expect(await enqueued()).toEqual([records[0]]);
  await scm('PATCH', `/pull-requests/1/comments/${body.comment.id}`, { resolved: true });
  expect(await enqueued()).toEqual([records[0]]);
  const enqueuedAt = new Date();
  await scm('PATCH', '', { requiredChecks: ['ci'] });
  expect(await lookAtRepository(ctx, { payload: { repositoryId: id }, enqueuedAt })).toBe('all');
  await looked();
  await push('main', { a: 'two\n', b: 'b\n', d: 'd\n' });
  // One has the same change as the base; the other one now conflicts with it.
  expect(await looked()).toEqual([2]);
});

test('a reply of the service is created once, whichever process creates it', async () => {
  await open();
  const { comment } = (await scm('POST', '/pull-requests/1/comments', { body: 'Why?' })).body;
  const { provider, at } = await openRepository(s.service.ctx, id);
  const reply = (body: string) => provider.replyToThread(at, 1, comment.id, body);
  await Promise.all([1, 2, 3, 4].map(() => reply('Because.')));
  await reply('And more.');
  const { threads } = (await provider.listReviewThreads(at, 1))!;
  expect(threads.map(({ comments }) => comments.map(({ body }) => body))).toEqual([
    ['Why?', 'Because.', 'And more.'],
  ]);
});

describe('a pull request', () => {
  test('is opened once for the same branches, follows them, and can be fetched', async () => {
    const pull = await open({ body: 'Why.' });
    expect(pull).toMatchObject({
      number: 1,
      state: 'open',
      headSha: await git('rev-parse', 'work'),
      baseRef: 'main',
      author: 'Bootstrap',
      threadId: null,
    });
    expect(pull.url).toBe(`${s.base}${REPOSITORIES}/${id}/pull-requests/1`);
    const again = await scm('POST', '/pull-requests', { title: 'B', headRef: 'work' });
    expect([...codeOf(again), again.body.error.number]).toEqual([409, 'pull_request_exists', undefined, 1]);
    expect(await now()).toMatchObject({ mergeable: 'mergeable' });
    await push('main', { a: 'three\n', b: 'b\n' });
    expect(await now()).toMatchObject({ mergeable: 'conflicting', state: 'open' });
    const next = await push('work', { a: 'three\n', b: 'b\n', c: 'c\n' });
    expect(await now()).toMatchObject({ headSha: next });
    expect(await git('rev-parse', 'refs/pull/1/head')).toBe(next);
  });

  test.each([
    ['a head that is not there', { headRef: 'no' }, 404, 'branch_not_found'],
    ['a base that is not there', { headRef: 'work', baseRef: 'no' }, 404, 'branch_not_found'],
    ['nothing new', { headRef: 'main', baseRef: 'work' }, 409, 'no_changes'],
    ['a name that git refuses', { headRef: '--upload-pack=x' }, 400, 'invalid_request'],
    ['a whole ref', { headRef: 'refs/heads/work' }, 404, 'branch_not_found'],
  ])('is refused with %s', async (_, fields, status, code) => {
    expect(codeOf(await scm('POST', '/pull-requests', { title: 'x', ...fields }))).toEqual([
      status,
      code,
      undefined,
    ]);
  });

  test('changes, closes and opens again; a closed one takes nothing else', async () => {
    await open();
    await push('next', { a: 'one\n' }, 'main');
    const patch = (body: unknown) => scm('PATCH', '/pull-requests/1', body);
    expect((await patch({ title: 'New', draft: true, base: 'next' })).body.pullRequest).toMatchObject({
      title: 'New',
      draft: true,
      baseRef: 'next',
    });
    expect(codeOf(await patch({ base: 'no', title: 'Not this' }))).toEqual([
      404,
      'branch_not_found',
      undefined,
    ]);
    expect((await patch({ state: 'closed' })).body.pullRequest).toMatchObject({
      state: 'closed',
      title: 'New',
    });
    for (const body of [{ title: 'x' }, { state: 'open', title: 'x' }, { state: 'closed' }, {}])
      expect(codeOf(await patch(body))[1]).toBe('pull_request_not_open');
    await open({ baseRef: 'next' });
    expect(codeOf(await patch({ state: 'open' }))[1]).toBe('pull_request_exists');
    expect(codeOf(await merge())[1]).toBe('pull_request_not_open');
    await scm('PATCH', '/pull-requests/2', { state: 'closed' });
    expect((await patch({ state: 'open' })).body.pullRequest.state).toBe('open');
  });

  test('whose head branch is deleted stays open; one whose head is pushed into the base is merged', async () => {
    const { headSha } = await open();
    await git('update-ref', '-d', 'refs/heads/work');
    expect(await now()).toMatchObject({ state: 'open', headSha });
    const main = await git('rev-parse', 'main');
    const byHand = await merged([main, headSha], headSha);
    await git('update-ref', 'refs/heads/main', byHand);
    await push('main', { a: 'later\n' });
    await refreshLocalPullRequests(s.service.ctx, { id, default_branch: 'main' });
    expect(await now()).toMatchObject({ state: 'merged', mergeCommitSha: byHand, headSha });
  });

  test('whose branch is set back to what the base has is not merged', async () => {
    await open();
    await git('update-ref', 'refs/heads/work', await git('rev-parse', 'main'));
    expect(await now()).toMatchObject({ state: 'open' });
    expect(codeOf(await merge())[1]).toBe('no_changes');
  });
});

describe('a merge', () => {
  test('makes a commit of two parents', async () => {
    const { headSha } = await open();
    const base = await push('main', { a: 'one\n', b: 'b\n', d: 'd\n' });
    const idem = randomUUID();
    const answer = await merge({ title: 'Bring a', message: `All ${'x'.repeat(60_000)}` }, idem);
    expect([answer.status, answer.body.pullRequest.state]).toEqual([200, 'merged']);
    expect(await git('log', '-1', '--format=%P %s %an <%ae> %ce', 'main')).toBe(
      `${base} ${headSha} Bring a Headrace <headrace@localhost> headrace@localhost`,
    );
    expect(await git('rev-parse', 'main')).toBe(answer.body.pullRequest.mergeCommitSha);
    expect(await git('ls-tree', '--name-only', 'main')).toBe('a\nb\nc\nd');
    const replay = await merge({ title: 'Bring a', message: `All ${'x'.repeat(60_000)}` }, idem);
    expect([replay.text, replay.headers.get('idempotent-replayed')]).toEqual([answer.text, 'true']);
    expect(await now()).toEqual(answer.body.pullRequest);
    expect(codeOf(await merge())[1]).toBe('pull_request_not_open');
  });

  test('squashes into one commit of one parent', async () => {
    await open({ title: 'Change', body: 'Why.' });
    await push('work', { a: 'two\n', b: 'b\n', c: 'c2\n' });
    const base = await push('main', { a: 'one\n', b: 'b\n', d: 'd\n' });
    expect((await merge({ method: 'squash' })).status).toBe(200);
    expect(await git('log', '-1', '--format=%P%n%B', 'main')).toBe(`${base}\nChange (#1)\n\nWhy.`);
    expect(await git('show', 'main:c')).toBe('c2');
  });

  test('rebases copies of the commits, each with its author', async () => {
    await open();
    await push('work', { a: 'two\n', b: 'b\n', c: 'c2\n' }, undefined, 'Second');
    const base = await push('main', { a: 'one\n', b: 'b\n', d: 'd\n' });
    const { mergeCommitSha } = (await merge({ method: 'rebase' })).body.pullRequest;
    expect(await git('log', '--format=%s %an %cn', `${base}..main`)).toBe(
      'Second Ada Headrace\nTo work Ada Headrace',
    );
    expect(await git('rev-parse', 'main')).toBe(mergeCommitSha);
  });

  test('is refused with its reason, and moves nothing', async () => {
    await open({ draft: true });
    const reason = async (body?: unknown) => codeOf(await merge(body))[2];
    expect(await reason()).toBe('draft');
    await scm('PATCH', '/pull-requests/1', { draft: false });
    await scm('PATCH', '', { mergeMethods: ['squash'], requiredChecks: ['ci'] });
    expect([await reason({ method: 'rebase' }), await reason()]).toEqual(['method', 'checks']);
    const head = await git('rev-parse', 'work');
    for (const state of ['success', 'failure']) {
      await scm('POST', `/commits/${head}/statuses`, { context: 'ci', state });
      await scm('POST', `/commits/${head}/statuses`, { context: 'other', state: 'failure' });
    }
    expect(await reason()).toBe('checks');
    await scm('POST', `/commits/${head}/statuses`, { context: 'ci', state: 'success' });
    const moved = await merge({ expectedHeadSha: '1'.repeat(40) });
    expect([...codeOf(moved), moved.body.error.headSha]).toEqual([409, 'head_moved', undefined, head]);
    const base = await push('main', { a: 'three\n', b: 'b\n' });
    expect(await reason()).toBe('conflicting');
    expect(await git('rev-parse', 'main')).toBe(base);
  });

  test('happens once for two at a time', async () => {
    await open();
    const answers = await Promise.all([merge({ method: 'squash' }), merge({ method: 'squash' }), merge()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await git('rev-list', '--first-parent', '--count', 'main')).toBe('2');
  });

  test('that a process left after the base had moved is seen; one left before is not', async () => {
    await open();
    const main = await git('rev-parse', 'main');
    const squashed = await merged([main], 'work');
    const { db } = s.service.ctx;
    await db
      .updateTable('local_pull_requests')
      .set({ merging_sha: squashed })
      .where('repository_id', '=', id)
      .execute();
    expect(await now()).toMatchObject({ state: 'open' });
    await git('update-ref', 'refs/heads/main', squashed, main);
    expect(await now()).toMatchObject({ state: 'merged', mergeCommitSha: squashed });
  });
});

describe('comments', () => {
  const post = (body: unknown) => scm('POST', '/pull-requests/1/comments', body);
  test('open threads, are replied to once, and are resolved', async () => {
    await open();
    const root = (await post({ body: 'Here.', path: 'a', line: 1 })).body.comment;
    const reply = (await post({ body: 'Done.', inReplyTo: root.id })).body.comment;
    expect([root, reply]).toMatchObject([{ author: 'Bootstrap', resolved: false }, { inReplyTo: root.id }]);
    const twice = await post({ body: 'x', inReplyTo: reply.id });
    expect([twice.status, twice.body.error.fields[0].path]).toEqual([400, '/inReplyTo']);
    expect(codeOf(await post({ body: 'x', inReplyTo: 'cmt_01k9x3v5e8f7arh2m4t6w8y0zb' }))[1]).toBe(
      'comment_not_found',
    );
    const resolved = await scm('PATCH', `/pull-requests/1/comments/${root.id}`, { resolved: true });
    expect(resolved.body.comment).toEqual({ ...root, resolved: true });
    const { body } = await scm('GET', '/pull-requests/1/comments');
    expect(body.comments).toEqual([resolved.body.comment, reply]);
  });
});

test('404 for a number that nothing has, and for what is no number', async () => {
  await open();
  const asked = [
    ['GET', ''],
    ['PATCH', '', { title: 'x' }],
    ['POST', '/merge', {}],
    ['GET', '/comments'],
  ] as const;
  for (const number of ['0', '2', '-1', 'x', '1.0', '01', '99999999999999999999'])
    for (const [method, path, body] of asked)
      expect(codeOf(await scm(method, `/pull-requests/${number}${path}`, body))).toEqual([
        404,
        'pull_request_not_found',
        undefined,
      ]);
});

test('404 for a key of other projects', async () => {
  await open();
  const project = (await s.call('POST', '/api/projects', { name: 'p' })).body.project.id as string;
  const { key } = await newAccount(s, await signedIn(s), { projectIds: [project] });
  for (const [method, path, body] of [
    ['GET', '/branches'],
    ['GET', '/inspect'],
    ['GET', '/pull-requests/1'],
    ['POST', '/pull-requests/1/merge', {}],
    ['DELETE', ''],
  ] as const)
    expect(codeOf(await s.call(method, `${REPOSITORIES}/${id}${path}`, body, { key }))).toEqual([
      404,
      'repository_not_found',
      undefined,
    ]);
});
