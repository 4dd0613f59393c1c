import type { Context } from '../context.ts';
import type { AutomationRow, ExecutionRow } from '../db/schema.ts';
import { publicUrl } from '../http/public-url.ts';

const iso = (time: Date | null) => time?.toISOString() ?? null;

export const automationView = (ctx: Pick<Context, 'config' | 'listening'>, a: AutomationRow) => ({
  id: a.id,
  orgId: a.org_id,
  projectId: a.project_id,
  name: a.name,
  prompt: a.prompt,
  trigger: a.trigger,
  filter: a.filter,
  modelId: a.model_id,
  baseBranch: a.base_branch,
  pullRequest: a.pull_request,
  overlap: a.overlap,
  catchUp: a.catch_up,
  spendLimitMicros: a.spend_limit_micros,
  monthlyLimitMicros: a.monthly_limit_micros,
  disableAfterFailures: a.disable_after_failures,
  disabled: a.disabled_reason !== null,
  disabledReason: a.disabled_reason,
  consecutiveFailures: a.consecutive_failures,
  nextRunAt: iso(a.next_run_at),
  lastExecutionAt: iso(a.last_execution_at),
  hookUrl: a.kind === 'webhook' ? `${publicUrl(ctx)}/api/hooks/automations/${a.id}` : null,
  createdByUserId: a.created_by,
  createdAt: a.created_at.toISOString(),
  updatedAt: a.updated_at.toISOString(),
});

/** All but the payload, which is up to 256 KiB. */
export const EXECUTION_COLUMNS = [
  'id',
  'automation_id',
  'project_id',
  'kind',
  'scheduled_for',
  'event_id',
  'event_type',
  'delivery_id',
  'status',
  'skipped_reason',
  'thread_id',
  'run_id',
  'pull_request_id',
  'error_code',
  'error_message',
  'created_at',
  'started_at',
  'finished_at',
] as const satisfies (keyof ExecutionRow)[];

export type ListedExecution = Pick<ExecutionRow, (typeof EXECUTION_COLUMNS)[number]>;

export const executionView = (e: ListedExecution) => ({
  id: e.id,
  automationId: e.automation_id,
  projectId: e.project_id,
  trigger: {
    kind: e.kind,
    scheduledFor: iso(e.scheduled_for),
    eventId: e.event_id,
    eventType: e.event_type,
    deliveryId: e.delivery_id,
  },
  status: e.status,
  skippedReason: e.skipped_reason,
  threadId: e.thread_id,
  runId: e.run_id,
  pullRequestId: e.pull_request_id,
  error: e.error_code === null ? null : { code: e.error_code, message: e.error_message ?? '' },
  createdAt: e.created_at.toISOString(),
  startedAt: iso(e.started_at),
  finishedAt: iso(e.finished_at),
});
