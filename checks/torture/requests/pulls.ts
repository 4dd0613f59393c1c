/** Threads on a repository, with a change, from which pull requests are opened. */
import { randomUUID } from 'node:crypto';
import type { Actor, Calls } from './actors.ts';
import { until } from './until.ts';
import type { Ids } from './exhibits.ts';

/** A thread whose change no pull request proposes yet. */
export async function changedThread(
  { call }: Pick<Calls, 'call'>,
  key: Actor,
  projectId: string,
): Promise<string> {
  const {
    thread: { id },
  } = await call(key, 'POST', '/api/threads', { projectId });
  const { thread } = await until(
    () => call(key, 'GET', `/api/threads/${id}`),
    ({ thread: now }) => now.initializationState === 'completed',
    'a thread on a repository',
  );
  await call(key, 'POST', `/api/threads/${id}/edits`, {
    expectedSourceId: thread.latestSourceId,
    changes: [{ path: `${randomUUID()}.txt`, content: '' }],
  });
  return id as string;
}

export async function newThreadPull(calls: Pick<Calls, 'call'>, key: Actor, projectId: string): Promise<Ids> {
  const threadId = await changedThread(calls, key, projectId);
  const { pullRequest } = await calls.call(key, 'POST', `/api/threads/${threadId}/pull-requests`, {});
  return { pullThreadId: threadId, pullRequestId: pullRequest.id as string };
}
