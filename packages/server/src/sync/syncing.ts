import type { Context } from '../context.ts';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import type { LoadedPullRequest } from '../pull-requests/index.ts';
import type { OpenRepository, ProviderCheck, ProviderPullRequest, ReviewThread } from '../scm/index.ts';

/** A pull request whose turn it is, with its thread as it was read. */
export interface Syncing {
  ctx: Context;
  job: Pick<Job<'pull-request.sync'>, 'fence' | 'payload' | 'signal'>;
  repository: OpenRepository;
  row: PullRequestRow;
  thread: ThreadRow;
}

/** What a look read about an open pull request. */
export interface Looked extends Omit<Syncing, 'row' | 'thread'> {
  /** As the look has stored it. If the version differs later, another look is needed. */
  loaded: LoadedPullRequest;
  /** When the look started to read, by this process's clock. */
  readAt: number;
  pull: ProviderPullRequest;
  /** Null if the credential may not see them. */
  checks: ProviderCheck[] | null;
  /** Unresolved review threads; null if the credential may not see them. */
  reviewThreads: ReviewThread[] | null;
}

/**
 * Drives the review loop of an open pull request after each successful look; worker.ts passes it in. `mayBegin`:
 * whether the loop may start anything new.
 */
export type LoopDriver = (looked: Looked, by: { mayBegin: boolean }) => Promise<void>;
