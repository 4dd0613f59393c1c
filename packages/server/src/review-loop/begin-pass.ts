/** Begins a pass: its rows, and its message or its update from the base. */
import type { Context } from '../context.ts';
import type { ReviewPassRow, RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { assignRun, recordSystemMessage } from '../messages/index.ts';
import { enqueueSync, updateBegun } from '../pull-requests/index.ts';
import type { LoadedPullRequest, PullRequestChange } from '../pull-requests/index.ts';
import { queueRun } from '../runs/index.ts';
import { reinitialize } from '../threads/index.ts';
import type { LoadedThread, ThreadChange } from '../threads/index.ts';
import { passAgent } from './refusal.ts';
import { insertPass, insertPoints, writePass } from './store.ts';
import type { Told } from './told.ts';

interface Pass {
  thread: LoadedThread;
  loaded: LoadedPullRequest;
  told: Told;
}

interface Begun {
  passId: string;
  /** Null for an update, which has no run of its own. */
  runId: string | null;
  pull: PullRequestChange;
  thread: ThreadChange;
}

/**
 * Begins a pass for a locked thread and pull request: publishes `message.persisted` and `run.queued`, or starts an
 * update from the base. The caller writes the changes of the pull request and the thread.
 */
export async function beginPass(
  tx: Tx,
  ctx: Pick<Context, 'config'>,
  { thread, loaded, told }: Pass,
): Promise<Begun> {
  const { id: loopId, org_id: orgId, enabled_at: enabledAt } = loaded.loop!;
  const pass = {
    org_id: orgId,
    id: newId('pass'),
    loop_id: loopId,
    loop_enabled_at: enabledAt,
    head_sha: loaded.row.head_sha,
  };
  if (told.kind === 'update') {
    await insertPass(tx, { ...pass, kind: 'update' });
    await enqueueSync(tx, loaded.row);
    return { passId: pass.id, runId: null, pull: updateBegun(loopId), thread: {} };
  }
  const again = await reinitialize(tx, thread);
  const messageId = await recordSystemMessage(tx, thread, told.content);
  const { modelId, agent } = await passAgent(tx, ctx, thread);
  const run = await queueRun(tx, ctx.config, thread, {
    kind: 'message',
    messageId,
    modelId,
    // Only the instructions can contain a script: quoted text is data.
    ...(agent === 'scripted' ? { prompt: told.instructions } : {}),
    createdBy: loopId,
  });
  await assignRun(tx, messageId, run.id);
  await insertPass(tx, { ...pass, kind: 'message', message_id: messageId, run_id: run.id });
  await insertPoints(
    tx,
    told.points.map(({ reviewThreadId, commentId, commentAt }) => ({
      org_id: orgId,
      loop_id: loopId,
      pass_id: pass.id,
      review_thread_id: reviewThreadId,
      comment_id: commentId,
      comment_at: commentAt,
    })),
  );
  return { passId: pass.id, runId: run.id, pull: {}, thread: again };
}

interface Retry {
  thread: LoadedThread;
  pass: ReviewPassRow;
}

/** Retries a pass whose run was lost: `run.queued`, for the same message. The caller writes the change of the thread. */
export async function retryPass(
  tx: Tx,
  ctx: Pick<Context, 'config'>,
  { thread, pass }: Retry,
): Promise<{ runId: string; thread: ThreadChange }> {
  const again = await reinitialize(tx, thread);
  const lost = await lostRun(tx, pass.run_id!);
  const run = await queueRun(tx, ctx.config, thread, {
    kind: 'message',
    messageId: pass.message_id,
    modelId: lost.model_id,
    ...(lost.prompt === null ? {} : { prompt: lost.prompt }),
    createdBy: lost.created_by,
  });
  await writePass(tx, pass.id, { run_id: run.id, retry_at: null });
  return { runId: run.id, thread: again };
}

const lostRun = (tx: Tx, id: string): Promise<Pick<RunRow, 'model_id' | 'prompt' | 'created_by'>> =>
  tx.db
    .selectFrom('runs')
    .select(['model_id', 'prompt', 'created_by'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
