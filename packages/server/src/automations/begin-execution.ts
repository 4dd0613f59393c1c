import type { Context } from '../context.ts';
import { json } from '../db/schema.ts';
import type { AutomationRow, ExecutionRow, ProjectRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, invalid, notFound } from '../http/errors.ts';
import type { Job } from '../jobs/job.ts';
import { keepProject } from '../projects/index.ts';
import { beginThread } from '../runs/index.ts';
import { publishExecution } from './admit.ts';
import { endExecution } from './end-execution.ts';
import { findNext, lockExecution, moveExecution } from './execution-store.ts';
import type { LockedExecution } from './execution-store.ts';
import { fillTemplate } from './template.ts';
import { automationView, executionView } from './view.ts';

type ExecuteJob = Pick<Job<'automation.execute'>, 'fence'>;

/**
 * Begins a queued execution if it is its turn: its thread, with the prompt as it is now as its first message, and the
 * run. If the project has nothing to start from, the execution fails.
 */
export async function beginExecution(ctx: Context, job: ExecuteJob, row: ExecutionRow): Promise<void> {
  try {
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      const project = await keepProject(tx, row.project_id);
      const locked = await lockExecution(tx, row);
      if (locked?.execution.status === 'queued') await begin(tx, ctx, { ...locked, project });
    });
  } catch (error) {
    // No worker is alive, or an unexpected fault: the job tries again.
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    await refuseExecution(ctx, row, error);
  }
}

/** Ends a queued execution that cannot begin. */
export async function refuseExecution(
  ctx: Pick<Context, 'db' | 'bus'>,
  row: ExecutionRow,
  { code, message }: Pick<ApiError, 'code' | 'message'>,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    const locked = await lockExecution(tx, row);
    if (locked) await endExecution(tx, locked, { event: 'refuse', error: { code, message } });
  });
}

type Beginning = LockedExecution & { project: ProjectRow | undefined };

async function begin(tx: Tx, ctx: Context, { project, ...locked }: Beginning): Promise<void> {
  const { automation, execution } = locked;
  if (isEnded(automation, execution)) return endExecution(tx, locked, { event: 'cancel' });
  if (!(await isItsTurn(tx, locked))) return;
  if (!project) throw notFound('project');
  const { thread, first } = await beginThread(
    tx,
    { ctx, creator: { actorId: automation.created_by, userId: null } },
    project,
    {
      automationId: automation.id,
      title: automation.name,
      modelId: automation.model_id ?? undefined,
      baseBranch: automation.base_branch ?? undefined,
      spendLimitMicros: automation.spend_limit_micros ?? undefined,
      ...execution.mapped,
      message: { content: promptOf(ctx, locked) },
    },
  );
  const begun = await moveExecution(tx, execution.id, 'begin', {
    thread_id: thread.id,
    run_id: first!.run.id,
    opening: automation.pull_request === 'none' ? null : json({ draft: automation.pull_request === 'draft' }),
  });
  publishExecution(tx, locked.scope, begun!);
}

/** Disabled or deleted since it was queued. A run by hand may begin while disabled: disabling cancels earlier ones. */
const isEnded = (automation: AutomationRow, { kind }: ExecutionRow): boolean =>
  automation.deleted_at !== null || (automation.disabled_reason !== null && kind !== 'manual');

/** With `queue`, the oldest of a key begins when none of the key runs; at its end it wakes the next one. */
async function isItsTurn(
  tx: Tx,
  { automation, execution }: Omit<LockedExecution, 'scope'>,
): Promise<boolean> {
  if (automation.overlap !== 'queue') return true;
  return (await findNext(tx, execution))?.id === execution.id;
}

function promptOf(ctx: Context, { automation, execution }: LockedExecution): string {
  const prompt = fillTemplate(automation.prompt, {
    payload: execution.payload,
    event: execution.event && { ...execution.event },
    automation: automationView(ctx, automation),
    execution: executionView(execution),
  });
  if (prompt.trim() === '')
    throw invalid({ path: '/message/content', message: 'has no text: the values of the prompt are empty' });
  return prompt;
}
