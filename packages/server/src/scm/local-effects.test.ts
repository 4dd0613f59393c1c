/** What is found out about writes of pull requests whose process died. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitFiles } from '../git/git.fixture.ts';
import { commitTree } from '../git/merge-commits.ts';
import { runGit } from '../git/run-git.ts';
import { purgeAll } from '../db/purge.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { localPullEffects, purgeHosted } from './index.ts';
import { localFolder } from './local/folders.ts';

const REPOSITORIES = '/api/source-control/scm/repositories';
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

async function proposed() {
  const { body } = await s.call('POST', REPOSITORIES, {
    name: `r-${randomUUID()}`,
    files: [{ path: 'a', content: 'one\n' }],
  });
  const { id } = body.repository as { id: string };
  const folder = localFolder(s.service.ctx.config, id);
  const git = async (...args: string[]) => (await runGit(folder, args)).output.toString('utf8').trim();
  await git('update-ref', 'refs/heads/work', await git('rev-parse', 'main'));
  await commitFiles(folder, 'work', [{ path: 'a', content: 'two\n' }]);
  const opened = await s.call('POST', `${REPOSITORIES}/${id}/pull-requests`, { title: 'A', headRef: 'work' });
  const { db } = s.service.ctx;
  const note = (sha: string) =>
    db.updateTable('local_pull_requests').set({ merging_sha: sha }).where('repository_id', '=', id).execute();
  const row = () =>
    db.selectFrom('local_pull_requests').selectAll().where('repository_id', '=', id).executeTakeFirst();
  return { id, folder, git, opened, note, row };
}
const look = (name: string, target: Record<string, unknown>, operationId = 'op_none') =>
  localPullEffects[`scm.${name}`]!.look(s.service.ctx, target, {
    operationId,
    signal: new AbortController().signal,
  });

test('a pull request is found by the operation that made it', async () => {
  const { id, opened } = await proposed();
  const operationId = opened.headers.get('x-operation-id')!;
  expect(await look('createPullRequest', { repositoryId: id }, operationId)).toMatchObject({ number: 1 });
  expect(await look('createPullRequest', { repositoryId: id })).toBeNull();
});

test('a change is done where the pull request has it', async () => {
  const { id } = await proposed();
  const changed = (change: Record<string, unknown>) =>
    look('updatePullRequest', { repositoryId: id, number: 1, change });
  expect(await changed({ title: 'A', state: 'open' })).toMatchObject({ number: 1 });
  expect(await changed({ title: 'B', state: 'open' })).toBeNull();
});

test('a merge is done once the base has its commit; before, what is left of it is kept from moving the base', async () => {
  const { id, folder, git, note, row } = await proposed();
  const main = await git('rev-parse', 'main');
  const squashed = await commitTree(folder, {
    tree: await git('rev-parse', 'work^{tree}'),
    parents: [main],
    message: 'Squashed',
    person: { name: 'A', email: 'a' },
    date: new Date(),
    signingKey: null,
  });
  await note(squashed);
  expect(await look('mergePullRequest', { repositoryId: id, number: 1 })).toBeNull();
  expect(await row()).toMatchObject({ state: 'open', merging_sha: null });
  await note(squashed);
  await git('update-ref', 'refs/heads/main', squashed, main);
  expect(await look('mergePullRequest', { repositoryId: id, number: 1 })).toMatchObject({
    state: 'merged',
    mergeCommitSha: squashed,
  });
  expect(await row()).toMatchObject({ state: 'merged', merging_sha: null });
});

test('the rows of a deleted repository go with what belongs to it', async () => {
  const { id, git, row } = await proposed();
  const path = `${REPOSITORIES}/${id}`;
  await s.call('POST', `${path}/commits/${await git('rev-parse', 'main')}/statuses`, {
    context: 'ci',
    state: 'success',
  });
  const { comment } = (await s.call('POST', `${path}/pull-requests/1/comments`, { body: 'a' })).body;
  await s.call('POST', `${path}/pull-requests/1/comments`, { body: 'b', inReplyTo: comment.id });
  expect((await s.call('DELETE', path)).status).toBe(200);
  for (const purge of purgeHosted) await purgeAll(s.service.ctx, purge, [id]);
  expect(await row()).toBeUndefined();
  const { db } = s.service.ctx;
  expect(await db.selectFrom('repositories').select('id').where('id', '=', id).execute()).toEqual([]);
});
