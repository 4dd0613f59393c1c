/** Whether the branch holds what the thread has. */
import type { PullRequestSummary } from '@headrace/client';
import { isTransferred } from './standing.ts';

const WORDS: Record<string, string> = {
  current: 'The branch holds the thread’s files',
  pending: 'Newer files are on their way',
  diverged: 'The branch and the thread have diverged',
  failed: 'The push was refused',
};

/** A push that is switched off stays `current`, whatever the thread has. */
export function pushedOf(
  pull: PullRequestSummary,
  latestSourceId: string | null,
): { status: string; word: string } {
  const { status } = pull.push;
  if (isTransferred(pull)) return { status: 'disabled', word: 'Another thread pushes to the branch' };
  if (status !== 'current') return { status, word: WORDS[status] ?? status };
  if (pull.headSourceId === null)
    return { status: 'pending', word: 'The branch’s files are yet to be taken over' };
  return pull.headSourceId === latestSourceId
    ? { status, word: WORDS['current']! }
    : { status: 'pending', word: 'The thread has newer files that are not pushed' };
}

/** Whether a merge now does not bring what the thread has. */
export const isLeftOut = (pull: PullRequestSummary, latestSourceId: string | null): boolean =>
  pull.push.status !== 'current' || pull.headSourceId !== latestSourceId;
