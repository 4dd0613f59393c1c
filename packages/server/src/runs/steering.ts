/**
 * Messages that join an active run. One is `sent` from the moment that it is accepted, and `taken` once the
 * agent has said that it is part of its conversation. What was not taken when the run ends becomes a run of
 * its own: nothing accepted is lost.
 */
import { RunnerError } from '@headrace/runner/client';
import type { Registry } from '../agents/index.ts';
import type { Context } from '../context.ts';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { LoadedThread } from '../threads/index.ts';
import { queueRun } from './queue-run.ts';

/**
 * The run that a new message of a locked thread joins: the active one, where its agent takes messages and
 * none is queued behind it.
 */
export async function runToJoin(tx: Tx, threadId: string, modelId: string): Promise<RunRow | null> {
  const open = await tx.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('status', 'in', ['queued', 'running', 'waiting'])
    .execute();
  const [run] = open;
  if (
    open.length !== 1 ||
    run!.status === 'queued' ||
    !run!.steerable ||
    run!.cancel_requested_at ||
    run!.kind === 'repair' ||
    run!.model_id !== modelId
  )
    return null;
  return run!;
}

/** Hands over what waits to be taken, in order; the runner hands each over once, however often it is told. */
export async function handOver(ctx: Context, run: RunRow): Promise<void> {
  const waiting = await ctx.db
    .selectFrom('messages')
    .select(['id', 'content', 'attachments'])
    .where('run_id', '=', run.id)
    .where('steering', '=', 'sent')
    .orderBy('sequence')
    .execute();
  for (const { id, content, attachments } of waiting) {
    try {
      await ctx.runner.steer(run.id, {
        id,
        prompt: content,
        ...(attachments?.length ? { attachments } : {}),
      });
    } catch (error) {
      // The turn is over, or was never begun: its end tells what becomes of the message.
      if (error instanceof RunnerError && error.status < 500) return;
      throw error;
    }
  }
}

export async function taken(tx: Tx, run: RunRow, messageId: string): Promise<void> {
  await tx.db
    .updateTable('messages')
    .set({ steering: 'taken' })
    .where('id', '=', messageId)
    .where('run_id', '=', run.id)
    .execute();
}

/**
 * At the end of a run of a locked thread: what its agent did not take is queued, each message as a run; a
 * stop cancels it with the run, however that ended.
 */
export async function queueUntaken(
  tx: Tx,
  config: Registry,
  loaded: LoadedThread,
  run: RunRow,
  status: 'completed' | 'failed' | 'cancelled',
): Promise<void> {
  const untaken = await tx.db
    .updateTable('messages')
    .set({ steering: null })
    .where('run_id', '=', run.id)
    .where('steering', '=', 'sent')
    .returning(['id', 'sequence'])
    .execute();
  if (status === 'cancelled' || run.cancel_requested_at) return;
  for (const { id } of untaken.toSorted((a, b) => a.sequence - b.sequence)) {
    const next = await queueRun(tx, config, loaded, {
      kind: 'message',
      messageId: id,
      modelId: run.model_id,
      createdBy: run.created_by,
    });
    await tx.db.updateTable('messages').set({ run_id: next.id }).where('id', '=', id).execute();
  }
}
