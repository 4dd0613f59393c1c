/**
 * The service as a team's git: a repository of the built-in provider is cloned and pushed to with git, a thread
 * works on a branch of it, and its pull request is merged. All through the client, with this machine's git.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client, PullRequest, Repository } from '@headrace/client';
import type { Output } from './output.ts';
import { EXAMPLES, must, RUN_LIMIT_MS, WORKSHOP } from './examples.ts';

export interface Story {
  client: Client;
  /** git uses both of these. */
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
  const { client, output } = story;
  const clone = join(story.folder, 'clone');
  const repository = await makeRepository(story);
  await pushWorkshop(story, clone, repository.cloneUrl);
  const threadId = await changeInThread(story, repository.id);
  const pull = await openPullRequest(story, threadId);
  await output.step('merge', async () => {
    await client.scm.createStatus(repository.id, pull.headSha, { context: 'tests', state: 'success' });
    const merged = await client.thread(threadId).pullRequests.merge(pull.id, { method: 'merge' });
    must(merged.state === 'merged', `the pull request is merged (${merged.state})`);
    return `status "tests" is green; merged as ${short(merged.mergeCommitSha!)}`;
  });
  await output.step('git pull', async () => {
    await git(story, clone, 'pull', '--quiet', '--ff-only');
    const changed = (await git(story, clone, 'diff', '--name-only', 'HEAD^1', 'HEAD')).split('\n');
    must(changed.length > 1, 'git pull brings what the thread changed');
    return `main is at ${short(await git(story, clone, 'rev-parse', 'HEAD'))}: ${changed.length} files of the thread`;
  });
  return { repositoryId: repository.id, pullRequest: pull.url, clone };
}

async function makeRepository({ client, output }: Story): Promise<Repository> {
  let made: Repository | undefined;
  await output.step('repository', async () => {
    // A second demo goes on with the data of the first: the name has to be new.
    const name = `workshop-${randomUUID().slice(0, 8)}`;
    const { id } = await client.scm.createRepository({ name });
    made = await client.scm.updateRepository(id, { requiredChecks: ['tests'] });
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

/** Returns the thread's id. */
async function changeInThread({ client, output }: Story, repositoryId: string): Promise<string> {
  let threadId = '';
  await output.step('thread', async () => {
    const project = await client.projects.create({ name: 'Workshop', repositoryId });
    const { thread } = await client.threads.createDirect({
      projectId: project.id,
      title: 'Overdue reminders',
    });
    threadId = thread.id;
    const ended = await client
      .thread(threadId)
      .messages.send({ content: await readFile(EDIT, 'utf8') })
      .done({ timeoutMs: RUN_LIMIT_MS });
    must(
      ended.status === 'completed',
      `the run completes (${ended.status}: ${ended.error?.message ?? 'no error'})`,
    );
    return `on main: a run completed in ${((Date.parse(ended.finishedAt!) - Date.parse(ended.startedAt!)) / 1000).toFixed(1)} s`;
  });
  return threadId;
}

async function openPullRequest({ client, output }: Story, threadId: string): Promise<PullRequest> {
  let pull: PullRequest | undefined;
  await output.step('pull', async () => {
    pull = await client.thread(threadId).pullRequests.create({});
    return `#${pull.number} "${pull.title}" from ${pull.headRef} at ${short(pull.headSha)}`;
  });
  return pull!;
}

export const short = (commit: string): string => commit.slice(0, 7);

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
