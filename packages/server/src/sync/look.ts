import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { PullRequestRow, ScmSummary } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { enqueueSync, findPullRequestById } from '../pull-requests/index.ts';
import type { LoadedPullRequest, PullRequestChange } from '../pull-requests/index.ts';
import { nextLookAfterMs, ProviderError } from '../scm/index.ts';
import type { OpenRepository, ProviderCheck, ProviderPullRequest, ReviewThread } from '../scm/index.ts';
import { keepReviews, keptReviews } from './kept-reviews.ts';
import { lockBoth } from './lock.ts';
import { see } from './see.ts';
import type { Looked } from './syncing.ts';

/** Looks at one that changed meanwhile: what was read of the provider may be older than our own write. */
const ATTEMPTS = 3;
/** When a pull request is looked at again whose provider does not say yet whether it can be merged. */
const UNKNOWN_SECONDS = [2, 5, 10, 30];
const SETTLED_MS = 60_000;
/** 1,000 pull requests take 4,000 reads an hour: GitHub gives a credential 5,000, and has no cheaper ones. */
const REVIEWS_MS = 15 * 60_000;

type SyncJob = Pick<Job<'pull-request.sync'>, 'fence' | 'payload' | 'signal'>;

interface Sight {
  /** The pull request was reopened, or it is open and its branch has moved since the last look. */
  isMoved: boolean;
  /** Null if there is no review loop to drive. */
  looked: Looked | null;
}

const NOTHING: Sight = { isMoved: false, looked: null };

/** Reads a pull request from the provider and stores the result. Throws ProviderError. */
export async function look(ctx: Context, job: SyncJob, repository: OpenRepository): Promise<Sight> {
  const { pullRequestId: id } = job.payload;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const before = await findPullRequestById(ctx.db, id);
    if (!before) return NOTHING;
    const { provider, at } = repository;
    const readAt = Date.now();
    const pull = await provider.getPullRequest(at, before.row.number);
    const { summary, checks, reviewThreads, read } = await summarize(repository, before, pull);
    const seen = await transaction(ctx, async (tx) => {
      await job.fence(tx);
      const locked = await lockBoth(tx, { threadId: before.row.thread_id, id });
      if (locked.loaded.row.version !== before.row.version) return null;
      return see(tx, locked, pull, {
        repo_full_name: at.repository.full_name,
        scm_summary: summary,
        scm_summary_updated_at: sql<Date>`now()`,
        looked_at: sql<Date>`now()`,
        ...read,
        ...nextLook(ctx, repository, locked.loaded, { pull, isDeleted: !locked.thread }),
      });
    });
    if (!seen) continue;
    const { row, loop } = seen;
    const isDriven = row.state === 'open' && row.transferred_at === null && loop?.enabled === true;
    return {
      isMoved: row.state === 'open' && (before.row.state !== 'open' || row.head_sha !== pull.headSha),
      looked: isDriven ? { ctx, job, repository, loaded: seen, readAt, pull, checks, reviewThreads } : null,
    };
  }
  await transaction(ctx, async (tx) => {
    const now = await findPullRequestById(tx.db, id);
    if (now) await enqueueSync(tx, now.row);
  });
  return NOTHING;
}

function nextLook(
  ctx: Context,
  { at }: OpenRepository,
  { row, loop }: LoadedPullRequest,
  { pull, isDeleted }: { pull: ProviderPullRequest; isDeleted: boolean },
): PullRequestChange {
  if (isDeleted) return { next_look_at: null };
  const unknownLooks = pull.state === 'open' && pull.mergeable === 'unknown' ? row.unknown_looks + 1 : 0;
  const soon = unknownLooks > 0 ? UNKNOWN_SECONDS[unknownLooks - 1] : undefined;
  const seconds =
    soon ??
    nextLookAfterMs({
      loopEnabled: loop?.enabled ?? false,
      webhookReceivedAt: at.installation.webhook_received_at,
      pollSeconds: ctx.config.scm.pollSeconds,
    }) / 1_000;
  return {
    unknown_looks: unknownLooks,
    next_look_at: sql<Date>`least(now() + ${seconds} * interval '1 second', push_retry_at)`,
  };
}

function noneOfUnknown(error: unknown): [] {
  if (error instanceof ProviderError && error.fault.code === 'not_found') return [];
  throw error;
}

interface Summarized {
  summary: ScmSummary;
  checks: ProviderCheck[] | null;
  reviewThreads: ReviewThread[] | null;
  /** The columns that record for which state the reviews were read. */
  read: PullRequestChange;
}

/** The provider's checks and reviews: the summary for responses, and the details for a review loop. */
async function summarize(
  { provider, at }: OpenRepository,
  { row, loop }: LoadedPullRequest,
  pull: ProviderPullRequest,
): Promise<Summarized> {
  const { state, draft, mergeable, mergeQueued, number } = pull;
  const isOwn = state !== 'merged' && row.transferred_at === null;
  // A provider may not have the commit yet that was pushed just now, or one no more that was rewritten.
  const checks = await provider.listChecks(at, isOwn ? row.head_sha : pull.headSha).catch(noneOfUnknown);
  const count = (of: 'succeeded' | 'failing' | 'running') =>
    (checks ?? []).filter((check) => check.state === of).length;
  const counted = {
    total: checks?.length ?? 0,
    succeeded: count('succeeded'),
    failing: count('failing'),
    running: count('running'),
  };
  const mark = reviewsMark(row, pull, counted);
  const isReadNow = row.scm_summary === null || !isReadFor(row, mark) || isForResolution(loop);
  const kept = isReadNow ? null : keptReviews(at.ctx, row.id, mark, REVIEWS_MS);
  // A loop reads the threads themselves, if there are any.
  const isKnown = !isReadNow && (kept !== null || !loop?.enabled || row.scm_summary!.unresolvedCount === 0);
  const found = isKnown ? kept : await provider.listReviewThreads(at, number);
  if (!isKnown && loop?.enabled) keepReviews(at.ctx, row.id, mark, found);
  const reviews = isKnown ? row.scm_summary! : reviewsOf(found);
  return {
    summary: {
      state,
      draft,
      mergeable,
      mergeQueued,
      checks: counted,
      checksAvailable: checks !== null,
      commentsAvailable: reviews.commentsAvailable,
      unresolvedCount: reviews.unresolvedCount,
    },
    checks,
    reviewThreads: reviews.commentsAvailable ? (found?.threads ?? []).filter((one) => !one.isResolved) : null,
    read: isKnown ? {} : { reviews_mark: mark, reviews_read_at: sql<Date>`now()` },
  };
}

/** Such a loop waits only for threads to be resolved, and resolving one changes nothing else. */
const isForResolution = (loop: LoadedPullRequest['loop']): boolean =>
  loop?.blocked_reason === 'unresolved_comments';

function reviewsOf(
  found: Awaited<ReturnType<OpenRepository['provider']['listReviewThreads']>>,
): Pick<ScmSummary, 'commentsAvailable' | 'unresolvedCount'> {
  const open = (found?.threads ?? []).filter(
    ({ isResolved, comments }) => !isResolved && comments[0]?.isOwn !== true,
  );
  return {
    commentsAvailable: found !== null,
    unresolvedCount: open.length + (found?.changesRequested ?? 0),
  };
}

/**
 * What the reviews are as they were for; null where that cannot be said. A provider may count changes in whole
 * seconds, by a clock of its own: what changed just now may change again unseen.
 */
function reviewsMark(
  { hints }: PullRequestRow,
  { changedAt }: ProviderPullRequest,
  checks: ScmSummary['checks'],
): string | null {
  if (changedAt === null || Date.now() - Date.parse(changedAt) < SETTLED_MS) return null;
  return JSON.stringify([hints, changedAt, checks]);
}

/** A thread that is resolved may change nothing else: reviews are read now and then, whatever else is the same. */
const isReadFor = ({ reviews_mark: of, reviews_read_at: at }: PullRequestRow, mark: string | null): boolean =>
  mark !== null && mark === of && at !== null && Date.now() - at.getTime() < REVIEWS_MS;
