/** An unattended pull request: its checks fail, the review loop has the agent fix it, and merges it. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { must, RUN_LIMIT_MS } from './examples.ts';
import { call, git, short } from './repository.ts';
import type { Answer, Story } from './repository.ts';

const PATH = 'shared/fines.js';
const RIGHT = 'Math.min(LATE_FINE_CAP_CENTS, days * CENTS_PER_LATE_DAY)';
/** The change's mistake: fines have a cap. */
const WRONG = 'days * CENTS_PER_LATE_DAY';
const TITLE = 'Fines without a cap';
const TESTS = 'tests/shared-lending.test.js';
/** The instructions of each pass. The built-in agent executes exactly the block. */
const INSTRUCTIONS = `Make the tests pass.\n\n\`\`\`sh\nsed -i 's/return ${WRONG.replace('*', '\\*')}/return ${RIGHT}/' ${PATH}\n\`\`\`\n`;
const CI_LIMIT_MS = 60_000;

interface Loop {
  story: Story;
  repositoryId: string;
  clone: string;
  path: string;
  taskPath: string;
}

export async function demoReviewLoop(story: Story, repositoryId: string, clone: string): Promise<void> {
  const loop = { story, repositoryId, clone, ...(await openPull(story, repositoryId, clone)) };
  let pull = (await call(story, 'GET', loop.path))['pullRequest'];
  await story.output.step('red', async () => {
    const said = await runTests(loop, pull);
    must(said !== null, 'the tests fail');
    pull = await until(loop, (now) => now['headSha'] !== pull.headSha);
    const run = `${pull.reviewLoop.passCount} pass of the loop`;
    return `"tests" fails: ${said}; ${run} pushed ${short(pull.headSha)}`;
  });
  await story.output.step('green', async () => {
    must((await runTests(loop, pull)) === null, 'the tests pass now');
    const merged = await until(loop, (now) => now['state'] === 'merged');
    const { task } = await call(story, 'GET', loop.taskPath);
    must(task.status === 'done', `the task is done (${task.status})`);
    return `"tests" is green; merged automatically as ${short(merged['mergeCommitSha'])}; the task is done`;
  });
}

/** Opens the pull request. Returns its path and the path of its task. */
async function openPull(
  story: Story,
  repositoryId: string,
  clone: string,
): Promise<Pick<Loop, 'path' | 'taskPath'>> {
  let path = '';
  let taskPath = '';
  await story.output.step('loop', async () => {
    const { project } = await call(story, 'POST', '/api/projects', {
      name: 'Workshop, reviewed',
      repositoryId,
    });
    await call(story, 'PATCH', `/api/projects/${project.id}/settings`, {
      reviewLoop: { enabled: true, autoMerge: true, instructions: INSTRUCTIONS },
    });
    const { task } = await call(story, 'POST', '/api/tasks', { projectId: project.id, title: TITLE });
    const { thread } = await call(story, 'POST', '/api/threads', {
      projectId: project.id,
      title: TITLE,
      taskId: task.id,
    });
    taskPath = `/api/tasks/${task.id}`;
    const at = `/api/threads/${thread.id}`;
    const ready = await ended(async () => (await call(story, 'GET', at))['thread'].latestSourceId);
    const content = await readFile(join(clone, PATH), 'utf8');
    await call(story, 'POST', `${at}/edits`, {
      expectedSourceId: ready,
      changes: [{ path: PATH, content: content.replace(RIGHT, WRONG) }],
    });
    const { pullRequest } = await call(story, 'POST', `${at}/pull-requests`, {});
    path = `${at}/pull-requests/${pullRequest.id}`;
    return `task ${task.identifier}, #${pullRequest.number} "${pullRequest.title}": its review loop may merge it`;
  });
  return { path, taskPath };
}

/** The team's CI: tests the commit and reports its status. Returns the failure, or null. */
export async function runTests(
  { story, repositoryId, clone }: Pick<Loop, 'story' | 'repositoryId' | 'clone'>,
  { headSha, headRef }: Answer,
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
  await call(
    story,
    'POST',
    `/api/source-control/scm/repositories/${repositoryId}/commits/${headSha}/statuses`,
    {
      context: 'tests',
      state: log === null ? 'success' : 'failure',
      ...(log === null ? {} : { log: log.slice(-60_000) }),
    },
  );
  return log && (/^\s*not ok \d+ - (.*)$|✖ (.*?) \(/m.exec(log)?.slice(1).find(Boolean) ?? 'a test');
}

const until = ({ story, path }: Loop, is: (pull: Answer) => boolean): Promise<Answer> =>
  ended(async () => {
    const { pullRequest } = await call(story, 'GET', path);
    const { status, blockedReason, lastErrorMessage } = pullRequest.reviewLoop;
    must(!['blocked', 'error'].includes(status), `the loop continues (${blockedReason ?? lastErrorMessage})`);
    return is(pullRequest) ? pullRequest : null;
  });

async function ended<T>(look: () => Promise<T | null>): Promise<T> {
  for (const deadline = Date.now() + RUN_LIMIT_MS; Date.now() < deadline; await sleep(200)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new Error('It did not end in time.');
}
