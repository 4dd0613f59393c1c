/** What pages read of pull requests and their review loops, and which events change it. */
import { client } from './client.ts';
import { many, one } from './query.ts';

const PULL_REQUESTS = ['pull_request.'];

export type PullRequestState = 'open' | 'closed' | 'merged';

/** Those of a thread, newest first. */
export const pullRequestsQuery = (appId: string, threadId: string) =>
  many(
    ['app', appId, 'thread', threadId, 'pull requests'],
    { types: PULL_REQUESTS, appId, threadId },
    (options) => client.pullRequests.list(threadId, options),
  );

export const pullRequestQuery = (appId: string, threadId: string, pullRequestId: string) =>
  one(
    ['app', appId, 'thread', threadId, 'pull request', pullRequestId],
    { types: PULL_REQUESTS, appId, threadId },
    (options) => client.pullRequests.get(threadId, pullRequestId, options),
  );

/** Threads of all projects with a pull request in this state; each thread carries its own. */
export const reviewedThreadsQuery = (filter: { pullRequestState: PullRequestState; projectId?: string }) =>
  many(['threads', 'by pull request', filter], { types: [...PULL_REQUESTS, 'thread.'] }, (options) =>
    client.threads.listDirect({ ...options, ...filter }),
  );
