import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import { listedView, primaryOf } from '../pull-requests/index.ts';
import { readThreadById } from './read-threads.ts';
import type { ThreadDetails } from './read-threads.ts';

const iso = (time: Date | null) => time?.toISOString() ?? null;

/** Active time of a run up to now, in ms; waiting does not count. */
export const activeDurationMs = (run: { active_duration_ms: number; active_since: Date | null }) =>
  run.active_duration_ms + (run.active_since ? Math.max(0, Date.now() - run.active_since.getTime()) : 0);

/** A bound is no matter while its host is away. */
function waitsFor({ isHeld, awayHost }: Pick<ThreadDetails, 'isHeld' | 'awayHost'>): string[] {
  if (awayHost !== null) return [`host:${awayHost}`];
  return isHeld ? ['capacity'] : [];
}

export function threadView({
  thread: t,
  run,
  queuedRuns,
  isHeld,
  awayHost,
  pendingApprovals,
  pullRequests,
  task,
}: ThreadDetails) {
  const primary = primaryOf(pullRequests);
  const isActive = run !== null && (run.status === 'running' || run.status === 'waiting');
  return {
    id: t.id,
    projectId: t.project_id,
    sourceId: t.source_id,
    latestSourceId: t.latest_source_id,
    modelId: t.model_id,
    scmPullRequestNumber: primary?.row.number ?? null,
    title: t.title,
    status: t.status,
    archivedAt: iso(t.archived_at),
    initializationState: t.initialization_state,
    initializationPhase: t.initialization_phase,
    initializationAttemptCount: t.initialization_attempt_count,
    initializationErrorCode: t.initialization_error_code,
    initializationErrorMessage: t.initialization_error_message,
    initializationUpdatedAt: iso(t.initialization_updated_at),
    waitingOn: [
      ...pendingApprovals.map((id) => `approval:${id}`),
      ...waitsFor({ isHeld, awayHost: t.status === 'queued' ? awayHost : null }),
    ],
    blockedOn: [
      ...(t.active_apply_id ? [`apply:${t.active_apply_id}`] : []),
      ...(t.active_build_id ? [`build:${t.active_build_id}`] : []),
    ],
    pendingWakeups: queuedRuns,
    tasks: task ? [task] : [],
    pullRequests: pullRequests.map(listedView),
    primaryPullRequest: primary && listedView(primary),
    ...(task && { taskId: task.id }),
    taskIdentifier: task?.identifier ?? null,
    trackerIssueUrl: t.tracker_issue_url,
    createdAt: iso(t.created_at),
    updatedAt: iso(t.updated_at),
    spendLimitMicros: t.spend_limit_micros,
    version: t.version,
    titleVersion: t.title_version,
    archiveVersion: t.archive_version,
    latestUserMessageAt: iso(t.latest_user_message_at),
    workspaceStatus: t.workspace_status,
    workspaceSetupStatus: t.workspace_setup_status,
    setupId: t.setup_id,
    latestRunId: run?.id ?? null,
    runStartedAt: iso(run?.started_at ?? null),
    runTurnStartedAt: iso(run?.started_at ?? null),
    runActiveSegmentStartedAt: iso(run?.active_since ?? null),
    stopRequestedAt: iso(t.stop_requested_at),
    runStatus: run?.status ?? null,
    runSteerable: isActive ? run.steerable : null,
    runActiveDurationMs: run ? activeDurationMs(run) : null,
    runActiveDurationProvenance: run ? 'accounted' : null,
    errorTrackerIssue: t.error_tracker_issue,
    createdByUserId: t.created_by,
    createdByAutomation: t.automation_id !== null,
    participantUserIds: t.participant_user_ids,
    executionTarget: t.execution_target,
    baseBranch: t.base_branch,
    baseCommitSha: t.base_commit_sha,
    automationId: t.automation_id,
    sealedAt: iso(t.sealed_at),
    forkedFrom: t.forked_from,
    metadata: t.metadata,
  };
}

/** The response object of one thread, as this transaction sees it. */
export async function viewThread(db: Db | Tx['db'], threadId: string) {
  return threadView(await readThreadById(db, threadId));
}
