/** For tests: a project bound to a repository that the service hosts, and commits on its branches. */
import { randomUUID } from 'node:crypto';
import { commitFiles } from '../git/git.fixture.ts';
import { localFolder } from '../scm/local/folders.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

export interface BoundProject {
  id: string;
  at: string;
  repositoryId: string;
  folder: string;
  /** A commit of these files alone; returns its id. */
  commit(branch: string, files: Record<string, string>): Promise<string>;
}

export async function newBoundProject(
  s: TestServer,
  files: Record<string, string> | null,
  fields: Record<string, unknown> = {},
): Promise<BoundProject> {
  const { repository } = await ok(
    s.call('POST', '/api/source-control/scm/repositories', { name: `r-${randomUUID()}` }),
  );
  const folder = localFolder(s.service.ctx.config, repository.id as string);
  const commit = (branch: string, content: Record<string, string>) =>
    commitFiles(
      folder,
      branch,
      Object.entries(content).map(([path, text]) => ({ path, content: text })),
    );
  if (files) await commit('main', files);
  const { project } = await ok(
    s.call('POST', '/api/projects', { name: 'Site', repositoryId: repository.id, ...fields }),
  );
  const id = project.id as string;
  return { id, at: `/api/projects/${id}`, repositoryId: repository.id as string, folder, commit };
}

/** A thread whose preparation has ended in this state. */
export async function preparedThread(
  s: TestServer,
  projectId: string,
  fields: Record<string, unknown> = {},
  state = 'completed',
) {
  const { thread } = await ok(s.call('POST', '/api/threads', { projectId, ...fields }));
  return prepared(s, thread.id as string, state);
}

export const prepared = (s: TestServer, threadId: string, state = 'completed') =>
  until(`the preparation to be ${state}`, async () => {
    const { thread } = await ok(s.call('GET', `/api/threads/${threadId}`));
    if (thread.initializationState !== state && ['failed', 'completed'].includes(thread.initializationState))
      throw new Error(`${thread.initializationErrorCode}: ${thread.initializationErrorMessage}`);
    return thread.initializationState === state && thread;
  });
