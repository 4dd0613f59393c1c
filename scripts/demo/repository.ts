/**
 * The service as a team's git: a repository of the built-in provider is cloned and pushed to with git, a thread
 * works on a branch of it, and its pull request is merged. All of it over HTTP, with git of this machine.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Output } from './output.ts';
import { EXAMPLES, must, RUN_LIMIT_MS, WORKSHOP } from './examples.ts';

export interface Story {
  address: string;
  key: string;
  output: Output;
  /** Where the repository is cloned to. */
  folder: string;
}

export interface RepositoryOutcome {
  repositoryId: string;
  pullRequest: string;
  /** The folder of the clone. */
  clone: string;
}

const EDIT = join(EXAMPLES, 'edits', 'overdue-reminders.md');
const GIT_LIMIT_MS = 60_000;

export async function demoRepository(story: Story): Promise<RepositoryOutcome> {
  const { output } = story;
  const clone = join(story.folder, 'clone');
  const repository = await makeRepository(story);
  await pushWorkshop(story, clone, repository.cloneUrl);
  const thread = await changeInThread(story, repository.id);
  const pull = await openPullRequest(story, thread.id);
  await output.step('merge', async () => {
    await call(
      story,
      'POST',
      `/api/source-control/scm/repositories/${repository.id}/commits/${pull.headSha}/statuses`,
      {
        context: 'tests',
        state: 'success',
      },
    );
    const { pullRequest: merged } = await call(
      story,
      'POST',
      `/api/threads/${thread.id}/pull-requests/${pull.id}/merge`,
      {
        method: 'merge',
      },
    );
    must(merged.state === 'merged', `the pull request is merged (${merged.state})`);
    return `status "tests" is green; merged as ${short(merged.mergeCommitSha)}`;
  });
  await output.step('git pull', async () => {
    await git(story, clone, 'pull', '--quiet', '--ff-only');
    const changed = (await git(story, clone, 'diff', '--name-only', 'HEAD^1', 'HEAD')).split('\n');
    must(changed.length > 1, 'git pull brings what the thread changed');
    return `main is at ${short(await git(story, clone, 'rev-parse', 'HEAD'))}: ${changed.length} files of the thread`;
  });
  return { repositoryId: repository.id, pullRequest: pull.url, clone };
}

async function makeRepository(story: Story): Promise<{ id: string; cloneUrl: string }> {
  let made: { id: string; cloneUrl: string } | undefined;
  await story.output.step('repository', async () => {
    // A second demo goes on with the data of the first: the name has to be new.
    const name = `workshop-${randomUUID().slice(0, 8)}`;
    made = (await call(story, 'POST', '/api/source-control/scm/repositories', { name })).repository;
    await call(story, 'PATCH', `/api/source-control/scm/repositories/${made!.id}`, {
      requiredChecks: ['tests'],
    });
    return `${name}, empty; a merge needs the status "tests"`;
  });
  return made!;
}

async function pushWorkshop(story: Story, clone: string, cloneUrl: string): Promise<void> {
  await story.output.step('push', async () => {
    await rm(clone, { recursive: true, force: true });
    await mkdir(story.folder, { recursive: true });
    await git(story, story.folder, 'clone', '--quiet', cloneUrl, clone);
    await cp(WORKSHOP, clone, { recursive: true });
    await git(story, clone, 'add', '--all');
    await git(story, clone, 'commit', '--quiet', '--message', 'First import');
    await git(story, clone, 'push', '--quiet', 'origin', 'HEAD:main');
    await git(story, clone, 'branch', '--quiet', '--set-upstream-to=origin/main');
    const files = (await git(story, clone, 'ls-files')).split('\n').length;
    return `cloned with the service key; ${files} files pushed to main as ${short(await git(story, clone, 'rev-parse', 'HEAD'))}`;
  });
}

async function changeInThread(story: Story, repositoryId: string): Promise<{ id: string }> {
  let thread: { id: string } | undefined;
  await story.output.step('thread', async () => {
    const { project } = await call(story, 'POST', '/api/projects', { name: 'Workshop', repositoryId });
    ({ thread } = await call(story, 'POST', '/api/threads', {
      projectId: project.id,
      title: 'Overdue reminders',
    }));
    const content = await readFile(EDIT, 'utf8');
    const { run } = await call(story, 'POST', `/api/threads/${thread!.id}/messages`, { content });
    const ended = await untilEnded(story, `/api/threads/${thread!.id}/runs/${run.id}`);
    must(
      ended.status === 'completed',
      `the run completes (${ended.status}: ${ended.error?.message ?? 'no error'})`,
    );
    return `on main: a run completed in ${((Date.parse(ended.finishedAt) - Date.parse(ended.startedAt)) / 1000).toFixed(1)} s`;
  });
  return thread!;
}

async function openPullRequest(
  story: Story,
  threadId: string,
): Promise<{ id: string; headSha: string; url: string }> {
  let pull: { id: string; headSha: string; url: string } | undefined;
  await story.output.step('pull', async () => {
    const { pullRequest } = await call(story, 'POST', `/api/threads/${threadId}/pull-requests`, {});
    pull = pullRequest;
    return `#${pullRequest.number} "${pullRequest.title}" from ${pullRequest.headRef} at ${short(pullRequest.headSha)}`;
  });
  return pull!;
}

export const short = (commit: string): string => commit.slice(0, 7);

// Answers are read by name; a wrong one fails the demo.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = Record<string, any>;

/** One call; throws what the service says against it. */
export async function call(
  { address, key }: Story,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(address + path, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer;
  must(response.ok, `${method} ${path} is done (${response.status} ${answer['error']?.message ?? ''})`);
  return answer;
}

async function untilEnded(story: Story, path: string): Promise<Answer> {
  for (const deadline = Date.now() + RUN_LIMIT_MS; Date.now() < deadline; await sleep(200)) {
    const { run } = await call(story, 'GET', path);
    if (run.finishedAt) return run;
  }
  throw new Error('The run did not end in time.');
}

/** git with the service's key in its environment: not in an address, not on a command line. */
export async function git({ address, key }: Story, cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, {
    cwd,
    timeout: GIT_LIMIT_MS,
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Demo',
      GIT_AUTHOR_EMAIL: 'demo@example.test',
      GIT_COMMITTER_NAME: 'Demo',
      GIT_COMMITTER_EMAIL: 'demo@example.test',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${address}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: Bearer ${key}`,
    },
  });
  return stdout.trim();
}
