/** An edit without an agent: parsed and applied in a worker thread, stored as the latest source of an idle thread. */
import Type from 'typebox';
import { recordCheckpoint } from '../checkpoints/index.ts';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { requireNoHost } from '../hosts/index.ts';
import { ApiError } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import {
  abandon,
  accepted,
  Changes,
  faultsMapped,
  insertSource,
  keepUntilTaken,
  limitsOf,
  loadSource,
  MessageInput,
  Source,
  sourceView,
  stageEdit,
} from '../sources/index.ts';
import type { EncodedTree, SourceRow, Staged } from '../sources/index.ts';
import { changeThread, loadThread, lockThread, requireIdle, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { SourceLimits } from '../trees/limits.ts';
import { renewedDeadline } from '../workspaces/index.ts';

const EditBody = Body({
  expectedSourceId: IdInput('src', "The thread's latest source."),
  changes: Changes,
  message: Type.Optional(MessageInput),
});

/** Refuses an edit of a thread, in this order: archived, sealed, busy, source unknown, source stale. */
async function requireEditable(tx: Tx, loaded: LoadedThread, expectedSourceId: string): Promise<void> {
  requireNoHost(loaded.thread);
  requireOpen(loaded.thread);
  await requireIdle(tx, loaded.thread);
  if (loaded.thread.latest_source_id === expectedSourceId) return;
  await loadSource(tx.db, loaded.project.id, expectedSourceId);
  throw new ApiError('stale_source', 'The thread has a newer source. Read it and edit that one.');
}

/** Of a thread that is not for the caller to see any do: it is refused afterwards. */
async function limitsFor(call: Call): Promise<SourceLimits> {
  const loaded = await loadThread(call.ctx.db, call).catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
  return limitsOf(call.ctx, loaded?.project ?? { repository_id: null });
}

async function parse(call: Call) {
  const limits = await limitsFor(call);
  const edit = accepted(await faultsMapped(call.ctx.pool.parseEdit(call.bytes, limits)));
  return { edit, limits, take: keepUntilTaken(call, edit.handle) };
}
type ParsedEdit = Awaited<ReturnType<typeof parse>>['edit'];

/** Stores the edited files as the thread's latest source, with a checkpoint. */
async function storeEdit(
  ctx: Context,
  tx: Tx,
  loaded: LoadedThread,
  { edit, tree, staged }: { edit: ParsedEdit; tree: EncodedTree; staged: Staged },
): Promise<SourceRow> {
  const source = await insertSource(tx, loaded.project, {
    tree,
    parents: [edit.baseSourceId],
    origin: 'edit',
    threadId: loaded.thread.id,
    runId: null,
    message: edit.message,
    staged,
  });
  await recordCheckpoint(tx, loaded, { sourceId: source.id, kind: 'edit', runId: null });
  await changeThread(tx, loaded, {
    latest_source_id: source.id,
    last_run_failed: false,
    ...(await renewedDeadline(ctx, tx.db, loaded.thread)),
  });
  return source;
}

export const createEdit = claimedWrite({
  name: 'edits.createEdit',
  summary: "Edit a thread's files without an agent",
  description:
    'Changes apply in order; all or none. The thread has to be idle; its latest source moves to the new one.',
  access: { permissions: ['thread:update'] },
  body: EditBody,
  rawBody: ['application/json'],
  responses: { 201: Ok({ source: Source }) },
  mode: 'staged',
  publishesPending: true,
  async prepare(call) {
    const prepared = await parse(call as Call);
    return {
      bodyDigest: prepared.edit.fingerprint,
      prepared,
      onClaim: async (tx: Tx) => {
        const loaded = await lockThread(tx, call);
        await requireEditable(tx, loaded, prepared.edit.baseSourceId);
        return scopeOf(loaded.project);
      },
    };
  },
  async handle(call, claim, { edit, limits, take }) {
    const { ctx } = call;
    take();
    try {
      const { project } = await loadThread(ctx.db, call);
      const { tree, staged } = await stageEdit(ctx, project, edit, limits);
      return await transaction(ctx, async (tx) => {
        const loaded = await lockThread(tx, call);
        await requireEditable(tx, loaded, edit.baseSourceId);
        const source = await storeEdit(ctx, tx, loaded, { edit, tree, staged });
        const result = {
          status: 201,
          body: { ok: true, source: sourceView(source) },
          scope: scopeOf(loaded.project),
        };
        await claim.settle(tx, result);
        return result;
      }).catch(async (error: unknown) => {
        await abandon(ctx, project, staged).catch(() => null);
        throw error;
      });
    } finally {
      ctx.pool.release(edit.handle);
    }
  },
});
