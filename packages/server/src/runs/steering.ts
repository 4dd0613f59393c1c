/**
 * Messages that join an active run. One is `sent` from the moment that it is accepted, and `taken` once the
 * agent has said that it is part of its conversation. A message that was not taken when the run ends starts
 * a run: nothing accepted is lost.
 */
import { RunnerError } from '@headrace/runner/client';
import type { Registry } from '../agents/index.ts';
import type { Context } from '../context.ts';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { messagesToDeliver, moveToRun, returnUntaken } from '../messages/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { queueRun } from './queue-run.ts';
import { openRuns } from './store.ts';

/**
 * The run that a new message of a locked thread joins: the active one, where its agent takes messages and
 * no run is queued behind it.
 */
export async function runToJoin(tx: Tx, threadId: string, modelId: string): Promise<RunRow | null> {
  const open = await tx.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where(openRuns)
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

/** Delivers the messages that wait, in order. The runner delivers each once, however often it is asked. */
export async function deliverMessages(ctx: Context, run: RunRow): Promise<void> {
  for (const { id, content, attachments } of await messagesToDeliver(ctx.db, run.id)) {
    try {
      await ctx.runner.steer(run.id, {
        id,
        prompt: content,
        ...(attachments?.length ? { attachments } : {}),
      });
    } catch (error) {
      // The turn is over, or has not begun: its end decides on the message.
      if (error instanceof RunnerError && error.status < 500) return;
      throw error;
    }
  }
}

/**
 * At the end of a run of a locked thread: each message that its agent did not take starts a run. A stop
 * cancels these messages with the run, however the run ended.
 */
export async function queueUntaken(
  tx: Tx,
  config: Registry,
  loaded: LoadedThread,
  { run, isCancelled }: { run: RunRow; isCancelled: boolean },
): Promise<void> {
  const untaken = await returnUntaken(tx, [run.id]);
  if (isCancelled || run.cancel_requested_at) return;
  for (const { id } of untaken) {
    const next = await queueRun(tx, config, loaded, {
      kind: 'message',
      messageId: id,
      modelId: run.model_id,
      createdBy: run.created_by,
    });
    await moveToRun(tx, id, next.id);
  }
}
