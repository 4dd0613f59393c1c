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

/** What a look read of an open pull request that its thread has. */
export interface Looked extends Omit<Syncing, 'row' | 'thread'> {
  /** As the look has written it down: who finds another version looks again. */
  loaded: LoadedPullRequest;
  /** When its reading began, by this process's clock. */
  readAt: number;
  pull: ProviderPullRequest;
  /** Null where the credential may not see them. */
  checks: ProviderCheck[] | null;
  /** Unresolved review threads; null where the credential may not see them. */
  reviewThreads: ReviewThread[] | null;
}

/**
 * Drives the review loop of an open pull request after each good look; worker.ts hands it over. `mayBegin`: whether
 * anything new may begin by itself.
 */
export type LoopDriver = (looked: Looked, by: { mayBegin: boolean }) => Promise<void>;
