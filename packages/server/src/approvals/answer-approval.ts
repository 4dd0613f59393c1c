import Type from 'typebox';
import type { ApprovalRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { resumeRun } from '../runs/index.ts';
import { changeThread, lockThread, withParticipant } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { rememberedKey } from './decide.ts';
import { resolveApprovals } from './resolve.ts';
import { commandOf } from './rules.ts';
import { Approval, approvalView } from './schemas.ts';
import type { Resolution } from './state.ts';
import { answerableApprovals, rememberDecision } from './store.ts';

export const answerApproval = write({
  name: 'approvals.answerApproval',
  summary: 'Approve or deny a tool call',
  description: '`remember` keeps the decision for the same tool and command in this thread.',
  access: { permissions: ['thread:update'] },
  body: Body({ decision: Enum(['approve', 'deny']), remember: Type.Optional(Type.Boolean()) }),
  responses: { 200: Ok({ approval: Approval }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    const find = () =>
      tx.db
        .selectFrom('approvals')
        .selectAll()
        .where('thread_id', '=', loaded.thread.id)
        .where('id', '=', call.params.approvalId!)
        .executeTakeFirst();
    const approval = await find();
    if (!approval) throw notFound('approval');
    const { decision, remember } = call.body;
    await changeThread(tx, loaded, withParticipant(loaded.thread, call.principal));
    if (!(await answer(tx, loaded, approval, { resolution: decision, by: call.principal.actorId })))
      throw new ApiError('approval_resolved', 'This approval was resolved before, or its time is over.');
    if (remember) await rememberAnswer(tx, approval, decision);
    return {
      status: 200,
      body: { ok: true, approval: approvalView((await find())!) },
      scope: scopeOf(loaded.project),
    };
  },
});

/** Resolves the approval, and resumes its run when no question is left. False when it is too late. */
async function answer(
  tx: Tx,
  loaded: LoadedThread,
  { id, run_id: runId }: ApprovalRow,
  how: { resolution: Resolution; by: string },
): Promise<boolean> {
  const inTime = await tx.db
    .selectFrom('approvals')
    .select('id')
    .where('id', '=', id)
    .where(answerableApprovals)
    .executeTakeFirst();
  if (!inTime) return false;
  const { resolved, isLast } = await resolveApprovals(tx, loaded, { runId, ids: [id], ...how });
  if (isLast) await resumeRun(tx, loaded, runId);
  return resolved > 0;
}

async function rememberAnswer(tx: Tx, approval: ApprovalRow, decision: 'approve' | 'deny'): Promise<void> {
  const tool = await tx.db
    .selectFrom('tools')
    .select(['name', 'input'])
    .where('id', '=', approval.tool_id)
    .executeTakeFirstOrThrow();
  const command = commandOf(tool.input);
  if (command === null) return;
  await rememberDecision(tx, {
    org_id: approval.org_id,
    thread_id: approval.thread_id,
    tool: tool.name,
    command: rememberedKey(command),
    allow: decision === 'approve',
  });
}
