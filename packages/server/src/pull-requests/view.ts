import type { BranchUpdate, PullRequestRow, ReviewLoopRow } from '../db/schema.ts';

/** A pull request with its review loop, which is null until it was first enabled or patched. */
export interface LoadedPullRequest {
  row: PullRequestRow;
  loop: ReviewLoopRow | null;
}

/** What lists and threads read of one. */
export interface ListedPullRequest {
  row: Omit<PullRequestRow, 'body'>;
  loop: ReviewLoopRow | null;
}

const iso = (time: Date | null) => time?.toISOString() ?? null;

function loopView(loop: ReviewLoopRow) {
  return {
    id: loop.id,
    threadId: loop.thread_id,
    pullRequestId: loop.pull_request_id,
    enabled: loop.enabled,
    autoMerge: loop.auto_merge,
    status: loop.status,
    disabledBy: loop.disabled_by,
    headSha: loop.head_sha,
    lastProcessedHeadSha: loop.last_processed_head_sha,
    lastObservedAt: iso(loop.last_observed_at),
    waitUntil: iso(loop.wait_until),
    lastFixRunId: loop.last_fix_run_id,
    lastErrorCode: loop.last_error_code,
    lastErrorMessage: loop.last_error_message,
    blockedReason: loop.blocked_reason,
    passCount: loop.pass_count,
    operationalRetryCount: loop.operational_retry_count,
    createdAt: iso(loop.created_at),
    updatedAt: iso(loop.updated_at),
  };
}

const updateView = ({ status, baseSha, conflicts, error }: BranchUpdate) => ({
  status,
  baseSha,
  conflicts,
  error,
});

/** As lists and threads show it: without its body. */
export function listedView({ row: p, loop }: ListedPullRequest) {
  return {
    id: p.id,
    threadId: p.thread_id,
    number: p.number,
    url: p.url,
    repoFullName: p.repo_full_name,
    state: p.state,
    headRef: p.head_ref,
    headSha: p.head_sha,
    baseRef: p.base_ref,
    draft: p.draft,
    version: p.version,
    scmSummary: p.scm_summary && { ...p.scm_summary, state: p.state, draft: p.draft },
    scmSummaryUpdatedAt: iso(p.scm_summary_updated_at),
    reviewLoop: loop && loopView(loop),
    title: p.title,
    headSourceId: p.head_source_id,
    autoPush: p.auto_push,
    push: {
      status: p.push_status,
      reason: p.push_reason,
      conflicts: p.push_conflicts,
      error: p.push_error,
    },
    update: p.branch_update && updateView(p.branch_update),
    mergeCommitSha: p.merge_commit_sha,
    mergedAt: iso(p.merged_at),
    createdAt: iso(p.created_at),
    updatedAt: iso(p.updated_at),
  };
}

export const pullRequestView = (loaded: LoadedPullRequest) => ({
  ...listedView(loaded),
  body: loaded.row.body,
});

/** The one that a thread is about: the open one, its own before one that went to another thread, else the newest. */
export const primaryOf = (newestFirst: ListedPullRequest[]): ListedPullRequest | null =>
  newestFirst.find(({ row }) => row.state === 'open' && row.transferred_at === null) ??
  newestFirst.find(({ row }) => row.state === 'open') ??
  newestFirst[0] ??
  null;
