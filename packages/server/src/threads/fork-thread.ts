/**
 * Forks a thread. The parent is locked until the fork is stored, so a run, an apply or a deletion of the parent ends
 * either before the fork, which then has its outcome, or after it.
 */
import Type from 'typebox';
import { loadCheckpoint } from '../checkpoints/index.ts';
import type { CheckpointRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { requireNoHost } from '../hosts/index.ts';
import { write } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, IdInput, Micros } from '../http/schemas.ts';
import { copyTranscript, ModelId } from '../messages/index.ts';
import type { TranscriptEnd } from '../messages/index.ts';
import { loadProject, Metadata } from '../projects/index.ts';
import { answerBegun, beginThread, BEGUN, FirstMessage } from '../runs/index.ts';
import { loadSource } from '../sources/index.ts';
import { leftOfLimit } from '../usage/index.ts';
import { loadThread, lockThreadById } from './policy.ts';
import type { LoadedThread } from './policy.ts';
import { Title } from './schemas.ts';

export const forkThread = write({
  name: 'threads.forkThread',
  summary: 'Fork a thread: a new one that begins where it is, or was',
  description:
    'The fork has the source of the checkpoint, else the latest one, and its applies and pull requests the base that this source had. Any thread can be forked, also while a run works in it. What is left out is taken from the thread: its title, its model, and what is left of its spend limit.',
  access: { permissions: ['thread:create', 'thread:read'] },
  body: Body({
    checkpointId: Type.Optional(IdInput('chk', 'A checkpoint of the thread. Default: its latest source.')),
    transcript: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Whether the fork's agents get what was said in the thread: the newest 200,000 characters of the runs that have ended, up to the checkpoint.",
      }),
    ),
    title: Type.Optional(Title),
    modelId: Type.Optional(ModelId),
    spendLimitMicros: Type.Optional(Micros),
    metadata: Type.Optional(Metadata),
    message: Type.Optional(FirstMessage),
  }),
  legacyKeys: ['/message/clientMessageId'],
  responses: BEGUN,
  async handle(tx, call) {
    const { checkpointId, transcript = true, ...input } = call.body;
    const { thread: parent, project } = await lockParent(tx, call);
    requireNoHost(parent);
    const checkpoint =
      checkpointId === undefined ? null : await loadCheckpoint(tx.db, parent.id, checkpointId);
    const sourceId = checkpoint?.source_id ?? parent.latest_source_id;
    if (sourceId === null)
      throw new ApiError('conflict', 'The thread has no source yet. Fork it once it is prepared.');
    const begun = await beginThread(tx, { ctx: call.ctx, creator: call.principal }, project, {
      ...input,
      title: input.title ?? parent.title ?? undefined,
      modelId: input.modelId ?? parent.model_id ?? undefined,
      spendLimitMicros: input.spendLimitMicros ?? (await leftOfLimit(tx, parent)),
      fork: {
        parent,
        checkpointId: checkpoint?.id ?? null,
        sourceId,
        baseCommitSha: await baseCommitOf(tx, parent, checkpoint),
      },
    });
    if (transcript)
      await copyTranscript(tx, { from: parent, to: begun.thread, end: transcriptEnd(checkpoint) });
    return answerBegun(tx, project, begun);
  },
});

/** Locks the thread that the path names, after its project. */
async function lockParent(tx: Tx, call: Call): Promise<LoadedThread> {
  const { thread } = await loadThread(tx.db, call);
  const project = await loadProject(tx.db, call, 'share', thread.project_id);
  const loaded = await lockThreadById(tx, thread.id, project);
  if (!loaded) throw notFound('thread');
  return loaded;
}

/**
 * The commit that the checkpoint's change is based on. A later one would make others' work between the two part of
 * the fork's change, as if it had undone that.
 */
async function baseCommitOf(
  tx: Tx,
  parent: ThreadRow,
  checkpoint: CheckpointRow | null,
): Promise<string | null> {
  if (checkpoint === null || parent.base_commit_sha === null) return parent.base_commit_sha;
  if (checkpoint.base_commit_sha !== null) return checkpoint.base_commit_sha;
  const first = await loadSource(tx.db, parent.project_id, parent.source_id!);
  if (first.commit_sha === parent.base_commit_sha) return parent.base_commit_sha;
  throw new ApiError(
    'conflict',
    'The commit that the checkpoint is based on is not known, and the thread has moved to another since. Fork it without a checkpoint.',
  );
}

function transcriptEnd(checkpoint: CheckpointRow | null): TranscriptEnd {
  if (checkpoint === null) return {};
  return checkpoint.run_id === null ? { endedBy: checkpoint.created_at } : { runId: checkpoint.run_id };
}
