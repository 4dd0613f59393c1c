/** Questions of an agent: answered by rule or by a remembered answer, else by a person. */
import { isDeepStrictEqual } from 'node:util';
import type { JournalEntry } from '@headrace/runner/protocol';
import { RunnerError } from '@headrace/runner/client';
import {
  commandOf,
  decide,
  overdueApprovals,
  requestApproval,
  resolveApprovals,
} from '../approvals/index.ts';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { RunRow, ToolRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import type { StartedRun } from './claimed-run.ts';
import { callKey, cleanJson } from './record-tool.ts';
import { resumeRun } from './resume-run.ts';
import { keepActive, pauseRun, renameTool } from './store.ts';
import { whileActive } from './while-active.ts';

type Question = Extract<JournalEntry, { type: 'permission' }>;

/** Answers a question, or opens an approval and lets the run wait. */
export async function answerQuestion(started: StartedRun, question: Question): Promise<void> {
  const { ctx, run, rules } = started;
  const known = await ctx.db
    .selectFrom('approvals')
    .select('status')
    .where('run_id', '=', run.id)
    .where('request_id', '=', question.requestId)
    .executeTakeFirst();
  if (known?.status === 'pending') return;
  if (known) return sendAnswer(ctx, run.id, question.requestId, known.status === 'approved');
  const tool = await toolOf(started, question);
  if (!tool) return sendAnswer(ctx, run.id, question.requestId, false);
  const { name, input } = await nameTool(started, question, tool);
  const asked = { threadId: run.thread_id, tool: name, command: commandOf(input) };
  const decision = await decide(ctx.db, rules, asked);
  if (decision === 'ask') await openApproval(started, question, tool);
  else await sendAnswer(ctx, run.id, question.requestId, decision === 'allow');
}

const toolOf = ({ ctx, run }: StartedRun, question: Question): Promise<ToolRow | undefined> =>
  ctx.db
    .selectFrom('tools')
    .selectAll()
    .where('run_id', '=', run.id)
    .where('call_id', '=', callKey(question.toolCallId))
    .executeTakeFirst();

/**
 * Names a tool call as a question about it does: agents say late what a call will do, and rules and people
 * decide on what the question says.
 */
async function nameTool(
  started: StartedRun,
  question: Question,
  tool: ToolRow,
): Promise<{ name: string; input: unknown }> {
  const name = clean(question.name ?? tool.name).slice(0, 200);
  const input = question.input == null ? tool.input : cleanJson(question.input);
  if (!isDeepStrictEqual([name, input], [tool.name, tool.input]))
    await whileActive(started, (tx) => renameTool(tx, tool.id, { name, input }));
  return { name, input };
}

async function openApproval(
  { ctx, job, project, run }: StartedRun,
  { requestId, title }: Question,
  tool: ToolRow,
): Promise<void> {
  const timeoutSeconds = ctx.config.approvalTimeoutSeconds;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now || !(await keepActive(tx, run.id))) return;
    await requestApproval(tx, { project, run, tool }, { requestId, title, timeoutSeconds });
    if (!(await pauseRun(tx, run.id))) return;
    tx.afterCommit.push(() => job.setWaiting(true));
    appendEvent(tx, { ...scopeOf(project), threadId: run.thread_id, runId: run.id }, 'run.waiting', {
      id: run.id,
      status: 'waiting',
    });
    await changeThread(tx, now, {}, 'always');
  });
}

export async function sendAnswer(
  ctx: Context,
  runId: string,
  requestId: string,
  isAllowed: boolean,
): Promise<void> {
  // A question of a call that has ended meanwhile needs no answer.
  await ctx.runner.answerPermission(runId, requestId, isAllowed).catch((error: unknown) => {
    if (!(error instanceof RunnerError) || error.status >= 500) throw error;
  });
}

/** Questions whose time is over count as denied; the run goes on when none is left. */
export async function expireOverdue(ctx: Context, run: RunRow): Promise<void> {
  const overdue = await ctx.db
    .selectFrom('approvals')
    .select('id')
    .where('run_id', '=', run.id)
    .where(overdueApprovals)
    .execute();
  if (!overdue.length) return;
  await transaction(ctx, async (tx) => {
    const now = await lockThreadById(tx, run.thread_id);
    if (!now) return;
    const { isLast } = await resolveApprovals(tx, now, {
      runId: run.id,
      ids: overdue.map(({ id }) => id),
      resolution: 'expire',
      by: null,
    });
    if (isLast) await resumeRun(tx, now, run.id);
  });
}
