import type { Context } from '../context.ts';
import type { ProjectRow, RunRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { acceptMessage } from '../messages/index.ts';
import type { MessageColumns } from '../messages/index.ts';
import { requireWorker } from '../processes/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { startThread, writeThread } from '../threads/index.ts';
import type { Creator, NewThread } from '../threads/index.ts';
import { queueRun } from './queue-run.ts';

interface Input extends Omit<NewThread, 'spendLimitMicros'> {
  /** Default: the project's. Null: none. */
  spendLimitMicros?: number | null | undefined;
  message?: { content: string; clientMessageId?: string | undefined } | undefined;
}

export interface BegunThread {
  thread: ThreadRow;
  first?: { message: MessageColumns; run: RunRow };
}

/**
 * Creates a thread of a project that is locked against deletion, with its first message and run, if it has one:
 * `thread.updated`, `message.persisted`, `run.queued`. Throws if the project has nothing to start from, or no worker is alive.
 */
export async function beginThread(
  tx: Tx,
  { ctx, creator }: { ctx: Context; creator: Creator },
  project: ProjectRow,
  { message, ...input }: Input,
): Promise<BegunThread> {
  const settings = await effectiveSettings(tx.db, project);
  const thread = await startThread(tx, creator, project, {
    ...input,
    spendLimitMicros:
      input.spendLimitMicros === undefined ? settings.spendLimitMicros : input.spendLimitMicros,
  });
  if (!message) return { thread };
  await requireWorker(ctx, tx.db, { mayWait: true });
  const loaded = { thread, project };
  const { thread: change, ...first } = await acceptMessage(tx, loaded, {
    ...message,
    startRun: (messageId) =>
      queueRun(tx, ctx.config, loaded, {
        kind: 'message',
        messageId,
        modelId: input.modelId ?? settings.modelId,
        createdBy: creator.actorId,
      }),
  });
  return { thread: await writeThread(tx, thread.id, change), first };
}
