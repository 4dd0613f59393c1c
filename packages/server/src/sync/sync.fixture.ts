/** Threads of repositories that the service hosts, for tests of their pull requests. */
import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { runGit } from '../git/run-git.ts';
import { localProvider } from '../scm/local/provider.ts';
import { localFolder } from '../scm/local/folders.ts';
import { ProviderError } from '../scm/provider.ts';
import type { Provider } from '../scm/provider.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

type Body = TestAnswer['body'];

/** A thread of a repository, prepared and with one edit. */
export async function newBound(s: TestServer, title = 'Fix the page') {
  const { repository } = await ok(
    s.call('POST', '/api/source-control/scm/repositories', {
      name: `r-${randomUUID()}`,
      files: [{ path: 'a.txt', content: 'one\n' }],
    }),
  );
  const { project } = await ok(
    s.call('POST', '/api/projects', { name: 'Garden', repositoryId: repository.id }),
  );
  const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id, title }));
  const at = `/api/threads/${thread.id as string}`;
  const folder = localFolder(s.service.ctx.config, repository.id);
  const git = async (...args: string[]) => (await runGit(folder, args)).output.toString('utf8').trim();
  const threadNow = async (): Promise<Body> => (await ok(s.call('GET', at))).thread;
  const bound = {
    repositoryId: repository.id as string,
    projectId: project.id as string,
    threadId: thread.id as string,
    prs: `${at}/pull-requests`,
    git,
    threadNow,
    async edit(files: Record<string, string | null>): Promise<Body> {
      const changes = Object.entries(files).map(([path, content]) => ({ path, content }));
      const { latestSourceId: expectedSourceId } = await threadNow();
      return (await ok(s.call('POST', `${at}/edits`, { expectedSourceId, changes }))).source;
    },
    async open(fields: Body = {}): Promise<Body> {
      return (await ok(s.call('POST', `${at}/pull-requests`, fields))).pullRequest;
    },
    async pr(id: string): Promise<Body> {
      return (await ok(s.call('GET', `${at}/pull-requests/${id}`))).pullRequest;
    },
    /** Waits until the pull request has these fields. */
    async shows(id: string, fields: Body): Promise<Body> {
      await vi.waitFor(async () => expect(await bound.pr(id)).toMatchObject(fields), {
        timeout: 15_000,
        interval: 50,
      });
      return bound.pr(id);
    },
    branches: async () =>
      (await git('for-each-ref', '--format=%(refname:short)', 'refs/heads/')).split('\n').sort(),
    pulls: async (): Promise<Body[]> =>
      (await ok(s.call('GET', `/api/source-control/scm/repositories/${repository.id}/pull-requests`)))
        .pullRequests,
  };
  await until('the thread is prepared', async () => (await threadNow()).initializationState === 'completed');
  await bound.edit({ 'b.txt': 'new\n' });
  return bound;
}

/** How a call of the provider breaks off. */
export const BREAKS = {
  'is cut off before it is done': async () => {
    throw new ProviderError({ code: 'unavailable' }, 'the connection was cut');
  },
  'is done, and its answer is lost': async (call: () => Promise<unknown>) => {
    await call();
    throw new ProviderError({ code: 'unavailable' }, '502');
  },
  'ends with the process before it is done': async () => {
    throw new Error('killed');
  },
  'is done, and ends with the process': async (call: () => Promise<unknown>) => {
    await call();
    throw new Error('killed');
  },
} as const;
export type Break = keyof typeof BREAKS;

type Method = {
  [K in keyof Provider]: Provider[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof Provider];

/** The next call of the provider breaks off so; `skip` calls before it are undisturbed. */
export function breakOff(method: Method, how: Break, skip = 0): void {
  const original = localProvider[method] as (...args: unknown[]) => Promise<unknown>;
  let left = skip;
  const spy = vi.spyOn(localProvider, method as never) as unknown as {
    mockImplementation(work: (...args: unknown[]) => unknown): void;
    mockRestore(): void;
  };
  spy.mockImplementation((...args) => {
    const call = () => original.apply(localProvider, args);
    if (left-- > 0) return call();
    spy.mockRestore();
    return BREAKS[how](call);
  });
}

/** Sends a write with one key until its receipt is settled and, where nothing was done, until it is done. */
export async function persist(
  s: TestServer,
  method: string,
  path: string,
  body: Body,
): Promise<{ answer: TestAnswer; operations: Set<string> }> {
  const idem = randomUUID();
  const operations = new Set<string>();
  const answer = await until('the write is settled', async () => {
    const sent = await s.call(method, path, body, { idem });
    const id = sent.headers.get('x-operation-id');
    if (id) operations.add(id);
    const isOpen = sent.status === 503 || sent.body.error?.code === 'request_in_progress';
    return isOpen ? null : sent;
  });
  return { answer, operations };
}
