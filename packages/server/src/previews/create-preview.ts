import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { requirePlace } from '../capacity/index.ts';
import type { Context } from '../context.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { base32, newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { requireWorker } from '../processes/index.ts';
import { scopeOf } from '../projects/index.ts';
import { lockThread, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { previewKey } from './reconcile.ts';
import { Command, LIFE_SECONDS, MAX_OF_PROJECT, MAX_OF_THREAD, Port, Preview } from './schemas.ts';
import { countOpen, insertPreview } from './store.ts';
import { previewView } from './view.ts';

/** 128 random bits as a DNS label: the address is the secret. */
const newToken = () => base32(randomBytes(16));

/**
 * Throws 409 where the thread or its project has as many previews as it may, 429 where its organization has. No rival counts before the
 * commit.
 */
async function requireRoom(tx: Tx, ctx: Context, { thread, project }: LoadedThread): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`previews of ${project.id}`}, 0))`.execute(tx.db);
  const open = await countOpen(tx, project.id, thread.id);
  if (open.thread >= MAX_OF_THREAD)
    throw new ApiError(
      'conflict',
      `A thread shows at most ${MAX_OF_THREAD} previews at once. Delete one first.`,
    );
  if (open.project >= MAX_OF_PROJECT)
    throw new ApiError(
      'conflict',
      `The threads of an app show at most ${MAX_OF_PROJECT} previews at once. Delete one first.`,
    );
  await requirePlace(tx, ctx, 'previews', project.org_id);
}

export const createPreview = claimedWrite({
  name: 'previews.createPreview',
  summary: "Show the thread's app in a browser",
  description:
    "Runs the command, a server, in its own sandbox with the thread's latest source; newer sources are written into it. The answer does not wait for the server: read the preview until it is `ready`. It stops automatically after 8 hours. At most 10 of a thread and 50 of an app can be open at a time (409).",
  access: { permissions: ['thread:update'] },
  body: Body({ command: Command, port: Port }),
  responses: { 201: Ok({ preview: Preview }) },
  errors: [503],
  mode: 'staged',
  publishesPending: true,
  async prepare(call) {
    return {
      prepared: null,
      onClaim: async (tx: Tx) => {
        const loaded = await lockThread(tx, call);
        requireOpen(loaded.thread, 'allowed');
        await requireRoom(tx, call.ctx, loaded);
        await requireWorker(call.ctx, tx.db);
        return scopeOf(loaded.project);
      },
    };
  },
  async handle(call, claim) {
    const {
      ctx,
      body: { command, port },
    } = call;
    return transaction(ctx, async (tx) => {
      const loaded = await lockThread(tx, call);
      const { thread, project } = loaded;
      requireOpen(thread, 'allowed');
      await requireRoom(tx, ctx, loaded);
      const preview = await insertPreview(tx, {
        org_id: thread.org_id,
        id: newId('prv'),
        project_id: project.id,
        thread_id: thread.id,
        listed: project.kind === 'platform',
        token: newToken(),
        command,
        port,
        source_id: null,
        created_by: call.principal.actorId,
        expires_at: sql<Date>`now() + ${LIFE_SECONDS} * interval '1 second'`,
      });
      appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, 'preview.updated', {
        id: preview.id,
        status: preview.status,
      });
      await enqueue(
        tx,
        'preview.work',
        { previewId: preview.id },
        { key: previewKey(preview.id), turnOf: preview },
      );
      const result = {
        status: 201,
        body: { ok: true, preview: previewView(ctx, preview) },
        scope: scopeOf(project),
      };
      await claim.settle(tx, result);
      return result;
    });
  },
});
