import type { PullRequestRow } from '../db/schema.ts';
import { pushAfter } from '../pull-requests/index.ts';
import type { LoadedPullRequest, PullRequestChange } from '../pull-requests/index.ts';

/** What a push, or a step without one, leaves. */
export const ENDED = {
  push_reason: null,
  push_conflicts: [],
  push_error: null,
  push_attempts: 0,
  push_retry_at: null,
  push_take: null,
  pushing_sha: null,
  pushing_source_id: null,
} satisfies PullRequestChange;

/** Runs after this source still have to be named in a commit; null: all of them. Others' commits name no runs. */
export const namedIn = (row: PullRequestRow): string | null => row.named_source_id ?? row.head_source_id;

/** The branch holds all that the thread has. */
export const inStep = ({ row }: LoadedPullRequest): PullRequestChange => ({
  ...ENDED,
  push_status: pushAfter(row.push_status, 'finish'),
});

/** The thread has something that the branch is to get. */
export const toPush = ({ row }: LoadedPullRequest): PullRequestChange => ({
  ...ENDED,
  push_status: pushAfter(row.push_status, 'queue'),
});
