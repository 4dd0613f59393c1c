/** A repository with a branch for each pull request that is opened, brought there by git. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Actor, Calls } from './actors.ts';
import type { Ids } from './exhibits.ts';

const REPOSITORIES = '/api/source-control/scm/repositories';
/** As many pull requests may be opened in a round. */
const BRANCHES = 400;
let used = 0;

export const newName = (): string => `r-${randomUUID()}`;
/** A branch from which nothing is proposed yet. */
export const nextBranch = (): string => `work/${used++ % BRANCHES}`;

export async function exhibitRepository(
  { call }: Calls,
  key: Actor,
): Promise<Pick<Ids, 'installationId' | 'repositoryId' | 'commitSha' | 'number' | 'commentId'>> {
  const { repository } = await call(key, 'POST', REPOSITORIES, {
    name: newName(),
    files: [{ path: 'README.md', content: '# Exhibit\n' }],
  });
  const { id: repositoryId, installationId, cloneUrl } = repository as Record<string, string>;
  const commitSha = await pushBranches(cloneUrl!, key[0]![1]);
  const { number } = await newPull({ call }, key, repositoryId!);
  const { comment } = await call(
    key,
    'POST',
    `${REPOSITORIES}/${repositoryId}/pull-requests/${number}/comments`,
    {
      body: 'Why?',
    },
  );
  return {
    repositoryId: repositoryId!,
    installationId: installationId!,
    commitSha,
    number: number!,
    commentId: comment.id,
  };
}

export async function newPull({ call }: Pick<Calls, 'call'>, key: Actor, repositoryId: string): Promise<Ids> {
  const { pullRequest } = await call(key, 'POST', `${REPOSITORIES}/${repositoryId}/pull-requests`, {
    title: 'A change',
    headRef: nextBranch(),
  });
  return { repositoryId, number: String(pullRequest.number) };
}

/** Each branch has a file of its own. Gives the default branch's commit. */
async function pushBranches(cloneUrl: string, serviceKey: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-torture-git-'));
  try {
    const git = (args: string[], input = ''): Promise<string> =>
      new Promise((resolve, reject) => {
        const child = execFile(
          'git',
          args,
          {
            cwd: folder,
            env: {
              PATH: process.env['PATH'],
              HOME: folder,
              GIT_CONFIG_NOSYSTEM: '1',
              GIT_CONFIG_COUNT: '1',
              GIT_CONFIG_KEY_0: 'http.extraHeader',
              GIT_CONFIG_VALUE_0: `x-api-key: ${serviceKey}`,
            },
          },
          (error, stdout) => (error ? reject(error) : resolve(stdout.trim())),
        );
        // Commands that read nothing may have ended: their exit code counts.
        child.stdin!.on('error', () => {});
        child.stdin!.end(input);
      });
    await git(['clone', '--quiet', '--bare', cloneUrl, '.']);
    const main = await git(['rev-parse', 'HEAD']);
    const stream = Array.from(
      { length: BRANCHES },
      (_, n) =>
        `commit refs/heads/work/${n}\ncommitter T <t@example.test> 1700000000 +0000\ndata 1\nx\nfrom ${main}\nM 100644 inline f${n}\ndata 1\nx\n\n`,
    );
    await git(['fast-import', '--quiet', '--date-format=raw'], stream.join(''));
    await git(['push', '--quiet', cloneUrl, 'refs/heads/work/*:refs/heads/work/*']);
    return main;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
