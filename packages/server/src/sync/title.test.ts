/** A task gets the title of its issue if an installation can see the issue. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { expectStatus, newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startGithubStandIn } from '../scm/github/stand-in.fixture.ts';
import type { GithubStandIn, StandInRepository } from '../scm/github/stand-in.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

let s: TestServer;
let github: GithubStandIn;
let repository: StandInRepository;
let projectId: string;
let number = 0;

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_SCM_ALLOW_PRIVATE: '1' });
  github = await startGithubStandIn();
  repository = await github.makeRepository({ name: 'site', files: { 'a.txt': 'a\n' } });
  expectStatus(
    await s.call(
      'POST',
      '/api/source-control/scm/installations',
      { provider: 'github', name: 'Stand-in', baseUrl: github.baseUrl, token: github.token },
      { cookie: await signedIn(s) },
    ),
    201,
  );
  projectId = (await ok(s.call('POST', '/api/projects', { name: 'Site' }))).project.id;
});
afterEach(() => {
  github.trouble = null;
  github.instead = null;
});
afterAll(async () => {
  await s?.close();
  await github?.close();
});

/** The address of a new issue. */
function newIssue(title: string): string {
  repository.issues.set(++number, { title, comments: [] });
  return `${github.origin}/acme/site/issues/${number}`;
}
const newThread = async (trackerIssueUrl: string): Promise<TestAnswer['body']> =>
  (await ok(s.call('POST', '/api/threads', { projectId, trackerIssueUrl }))).thread;
const titleOf = async ({ taskId }: { taskId: string }): Promise<string> =>
  (await ok(s.call('GET', `/api/tasks/${taskId}`))).task.title;
const jobs = (taskId: string) =>
  s.service.ctx.db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', 'task.title')
    .where((eb) => eb(eb.ref('payload', '->>').key('taskId'), '=', taskId))
    .execute();
const isOver = (taskId: string) => until('the job is over', async () => (await jobs(taskId)).length === 0);
const asked = (path: string) => github.seen.filter((request) => request.path.endsWith(path)).length;

test('a title from GitHub is published for every thread, and not read again', async () => {
  const address = newIssue('The page is `broken`');
  const thread = await newThread(address);
  expect(thread.tasks[0]).toMatchObject({ identifier: `acme/site#${number}`, title: `acme/site#${number}` });
  await expect.poll(() => titleOf(thread), { timeout: 10_000 }).toBe('The page is `broken`');
  const now = (await ok(s.call('GET', `/api/threads/${thread.id}`))).thread;
  expect(now.tasks[0].title).toBe('The page is `broken`');
  expect(now.version).toBeGreaterThan(thread.version);
  repository.issues.get(number)!.title = 'Another';
  const second = await newThread(`${address}#issuecomment-1`);
  await isOver(thread.taskId);
  expect([second.taskId, await titleOf(second)]).toEqual([thread.taskId, 'The page is `broken`']);
  expect(asked(`/issues/${number}`)).toBe(1);
});

test("the issue's title does not replace a person's, set before or during the request to GitHub", async () => {
  const address = newIssue('Of GitHub');
  const { task } = await ok(
    s.call('POST', '/api/tasks', { projectId, title: 'Mine', trackerIssueUrl: address }),
  );
  const thread = await newThread(address);
  expect([thread.taskId, await jobs(task.id)]).toEqual([task.id, []]);

  const underWay = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const issue = newIssue('Of GitHub');
  const { githubProvider } = await import('../scm/github/provider.ts');
  const original = githubProvider.getIssue;
  vi.spyOn(githubProvider, 'getIssue').mockImplementationOnce(async (...args) => {
    const found = await original(...args);
    underWay.resolve();
    await goesOn.promise;
    return found;
  });
  const later = await newThread(issue);
  await underWay.promise;
  // A person who sends the current title has set it.
  await ok(s.call('PATCH', `/api/tasks/${later.taskId}`, { title: later.taskIdentifier }));
  goesOn.resolve();
  await isOver(later.taskId);
  expect(await titleOf(later)).toBe(later.taskIdentifier);
});

test('the title is read later if GitHub is unavailable; a deleted task is skipped', async () => {
  github.trouble = ({ path }) => (path.includes('/issues/') ? '502' : undefined);
  const [kept, gone] = [await newThread(newIssue('Late')), await newThread(newIssue('Never'))];
  for (const { taskId } of [kept, gone])
    await until('the retry is enqueued', async () => (await jobs(taskId))[0]?.payload['tries'] === 1);
  expect(await titleOf(kept)).toBe(kept.taskIdentifier);
  await ok(s.call('DELETE', `/api/tasks/${gone.taskId}`));
  github.trouble = null;
  for (const { taskId } of [kept, gone]) {
    const [job] = await jobs(taskId);
    expect(job!.run_at.getTime()).toBeGreaterThan(job!.created_at.getTime() + 4_000);
  }
  await s.service.ctx.db
    .updateTable('jobs')
    .set({ run_at: new Date() })
    .where('kind', '=', 'task.title')
    .execute();
  await expect.poll(() => titleOf(kept), { timeout: 10_000 }).toBe('Late');
  await isOver(gone.taskId);
});

test('the title stays the identifier if no installation can see the issue, or there is only the built-in one', async () => {
  const seen = newIssue('Seen by others');
  const unknown = await newThread(`${github.origin}/acme/site/issues/999999`);
  const elsewhere = await newThread('https://tracker.example.com/acme/site/issues/1');
  for (const thread of [unknown, elsewhere]) {
    await isOver(thread.taskId);
    expect(await titleOf(thread)).toBe(thread.taskIdentifier);
  }
  const { key } = await newAccount(s, (await tenant(s)).cookie);
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'n' }, { key }));
  const { thread } = await ok(
    s.call('POST', '/api/threads', { projectId: project.id, trackerIssueUrl: seen }, { key }),
  );
  await isOver(thread.taskId);
  expect((await ok(s.call('GET', `/api/tasks/${thread.taskId}`, undefined, { key }))).task.title).toBe(
    `acme/site#${number}`,
  );
  expect(asked(`/issues/${number}`)).toBe(0);
});

test('a title that is too long for a task is cut; a removed provider is not asked', async () => {
  const long = await newThread(newIssue('🦊'.repeat(600)));
  await expect.poll(() => titleOf(long), { timeout: 10_000 }).toBe('🦊'.repeat(500));
  const { db } = s.service.ctx;
  await db
    .updateTable('organizations')
    .set({ without: ['sourceControl'] })
    .execute();
  try {
    const thread = await newThread(newIssue('Not for them'));
    await isOver(thread.taskId);
    expect(asked(`/issues/${number}`)).toBe(0);
  } finally {
    await db.updateTable('organizations').set({ without: [] }).execute();
  }
});
