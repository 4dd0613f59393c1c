/** An unattended pull request: its checks fail, the review loop has the agent fix it, and merges it. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client, PullRequest } from '@headrace/client';
import { must, RUN_LIMIT_MS } from './examples.ts';
import { git, short } from './repository.ts';
import type { Story } from './repository.ts';

const PATH = 'shared/fines.js';
const RIGHT = 'Math.min(LATE_FINE_CAP_CENTS, days * CENTS_PER_LATE_DAY)';
/** The change's mistake: fines have a cap. */
const WRONG = 'days * CENTS_PER_LATE_DAY';
const TITLE = 'Fines without a cap';
const TESTS = 'tests/shared-lending.test.js';
/** The instructions of each pass. The built-in agent executes exactly the block. */
const INSTRUCTIONS = `Make the tests pass.\n\n\`\`\`sh\nsed -i 's/return ${WRONG.replace('*', '\\*')}/return ${RIGHT}/' ${PATH}\n\`\`\`\n`;
const CI_LIMIT_MS = 60_000;
const WAIT_SECONDS = 20;

interface Repository {
  story: Story;
  repositoryId: string;
  clone: string;
}

export async function demoReviewLoop(story: Story, repositoryId: string, clone: string): Promise<void> {
  const { client, output } = story;
  const repository = { story, repositoryId, clone };
  const { pull, taskId } = await openPull(repository);
  let fixed = pull;
  await output.step('red', async () => {
    const failure = await runTests(repository, pull);
    must(failure !== null, 'the tests fail');
    fixed = await until(client, pull, ({ headSha }) => headSha !== pull.headSha);
    const run = `${fixed.reviewLoop?.passCount} pass of the loop`;
    return `"tests" fails: ${failure}; ${run} pushed ${short(fixed.headSha)}`;
  });
  await output.step('green', async () => {
    must((await runTests(repository, fixed)) === null, 'the tests pass now');
    const merged = await until(client, fixed, ({ state }) => state === 'merged');
    const task = await client.tasks.get(taskId);
    must(task.status === 'done', `the task is done (${task.status})`);
    return `"tests" is green; merged automatically as ${short(merged.mergeCommitSha!)}; the task is done`;
  });
}

async function openPull({
  story: { client, output },
  repositoryId,
  clone,
}: Repository): Promise<{ pull: PullRequest; taskId: string }> {
  let pull: PullRequest | undefined;
  let taskId = '';
  await output.step('loop', async () => {
    const { id: projectId } = await client.projects.create({ name: 'Workshop, reviewed', repositoryId });
    await client.project(projectId).settings.update({
      reviewLoop: { enabled: true, autoMerge: true, instructions: INSTRUCTIONS },
    });
    const task = await client.tasks.create({ projectId, title: TITLE });
    taskId = task.id;
    const { thread } = await client.threads.createDirect({ projectId, title: TITLE, taskId });
    const content = await readFile(join(clone, PATH), 'utf8');
    await client.thread(thread.id).edits.create({
      expectedSourceId: await sourceOf(client, thread.id),
      changes: [{ path: PATH, content: content.replace(RIGHT, WRONG) }],
    });
    pull = await client.thread(thread.id).pullRequests.create({});
    return `task ${task.identifier}, #${pull.number} "${pull.title}": its review loop may merge it`;
  });
  return { pull: pull!, taskId };
}

/** The source that the thread has once its branch is fetched. */
async function sourceOf(client: Client, threadId: string): Promise<string> {
  const signal = AbortSignal.timeout(RUN_LIMIT_MS);
  for await (const item of client.thread(threadId).follow({ keepOpen: true, signal }))
    if (item.kind === 'thread' && item.thread.latestSourceId) return item.thread.latestSourceId;
  throw new Error('The thread was deleted.');
}

/** The team's CI: tests the commit and reports its status. Returns the failure, or null. */
export async function runTests(
  { story, repositoryId, clone }: Repository,
  { headSha, headRef }: PullRequest,
): Promise<string | null> {
  await git(story, clone, 'fetch', '--quiet', 'origin', headRef);
  await git(story, clone, 'checkout', '--quiet', '--detach', headSha);
  const log = await promisify(execFile)(process.execPath, ['--test', TESTS], {
    cwd: clone,
    timeout: CI_LIMIT_MS,
  }).then(
    () => null,
    ({ stdout }: { stdout: string }) => stdout,
  );
  await story.client.scm.createStatus(repositoryId, headSha, {
    context: 'tests',
    state: log === null ? 'success' : 'failure',
    ...(log === null ? {} : { log: log.slice(-60_000) }),
  });
  return log && (/^\s*not ok \d+ - (.*)$|✖ (.*?) \(/m.exec(log)?.slice(1).find(Boolean) ?? 'a test');
}

/** Waits for the pull request to reach this state; its review loop must continue until then. */
async function until(
  client: Client,
  { id, threadId }: PullRequest,
  isSo: (pull: PullRequest) => boolean,
): Promise<PullRequest> {
  const { pullRequests } = client.thread(threadId);
  let pull = await pullRequests.get(id);
  for (const deadline = Date.now() + RUN_LIMIT_MS; Date.now() < deadline;) {
    const { status, blockedReason, lastErrorMessage } = pull.reviewLoop!;
    must(
      status !== 'blocked' && status !== 'error',
      `the loop continues (${blockedReason ?? lastErrorMessage})`,
    );
    if (isSo(pull)) return pull;
    pull = await pullRequests.get(id, { afterVersion: pull.version, waitSeconds: WAIT_SECONDS });
  }
  throw new Error('The review loop did not get there in time.');
}
