/** GitHub's merge queue, which only GraphQL knows. */
import type { AtRepository } from '../provider.ts';
import { placeOf } from './ask.ts';
import type { Connection } from './connection.ts';
import { faultOf } from './faults.ts';

const QUEUE = `query($owner: String!, $repo: String!, $number: Int!, $branch: String!) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) { id }
    pullRequest(number: $number) { id mergeQueueEntry { id } }
  }
}`;
export const ENQUEUE = `mutation($id: ID!, $head: GitObjectID) {
  enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $head}) { mergeQueueEntry { id } }
}`;

interface Answer {
  repository: {
    mergeQueue: { id: string } | null;
    pullRequest: { id: string; mergeQueueEntry: { id: string } | null } | null;
  } | null;
}

/** How long a branch is believed to have no queue: most never get one, and each look would cost a query. */
const NO_QUEUE_MS = 10 * 60_000;
const MAX_KNOWN = 10_000;
const withoutQueue = new Map<string, number>();

const keyOf = ({ repository, installation }: AtRepository, { baseRef }: { baseRef: string }): string =>
  `${installation.id} ${repository.id} ${baseRef}`;

/** Forgets that the branch has no queue, after it turned out to have one. */
export const expectQueue = (at: AtRepository, pull: { baseRef: string }): boolean =>
  withoutQueue.delete(keyOf(at, pull));

export async function isInMergeQueue(
  at: AtRepository,
  { octokit }: Connection,
  { number, baseRef }: { number: number; baseRef: string },
): Promise<boolean> {
  const key = keyOf(at, { baseRef });
  if ((withoutQueue.get(key) ?? 0) > Date.now()) return false;
  const answer = await octokit
    .graphql<Answer>(QUEUE, { ...placeOf(at.repository.full_name), number, branch: baseRef })
    .catch((error: unknown) => {
      // An older Enterprise Server has no queues, and a token may not see them.
      if (['unsupported', 'access_denied', 'not_found'].includes(faultOf(error).fault.code)) return null;
      throw error;
    });
  if (answer?.repository?.mergeQueue) return answer.repository.pullRequest?.mergeQueueEntry != null;
  if (withoutQueue.size >= MAX_KNOWN) withoutQueue.clear();
  withoutQueue.set(key, Date.now() + NO_QUEUE_MS);
  return false;
}
