import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import Type from 'typebox';
import type { Static } from 'typebox';
import { requirePlace } from '../capacity/index.ts';
import type { Context } from '../context.ts';
import type { PreviewRow, ProjectRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { base32, newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { scopeOf } from '../projects/index.ts';
import { previewKey } from './reconcile.ts';
import { Command, LIFE_SECONDS, MAX_OF_PROJECT, MAX_OF_THREAD, Port } from './schemas.ts';
import { countOpen, insertPreview } from './store.ts';

/** What every order of a preview has. */
export const order = {
  command: Command,
  port: Port,
  setup: Type.Optional(
    Type.Boolean({
      default: true,
      description: "Have the layer of the app's setup below the source, and wait for it.",
    }),
  ),
};
const Order = Type.Object(order);

/** 128 random bits as a DNS label: the address is the secret. */
const newToken = () => base32(randomBytes(16));

/**
 * Throws 409 where the thread or the project has as many previews as it may, 429 where its organization has. No
 * rival counts before the commit.
 */
export async function requireRoom(
  tx: Tx,
  ctx: Context,
  { project, threadId }: { project: ProjectRow; threadId: string | null },
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`previews of ${project.id}`}, 0))`.execute(tx.db);
  const open = await countOpen(tx, project.id, threadId);
  if (open.thread >= MAX_OF_THREAD)
    throw new ApiError(
      'conflict',
      `A thread shows at most ${MAX_OF_THREAD} previews at once. Delete one first.`,
    );
  if (open.project >= MAX_OF_PROJECT)
    throw new ApiError(
      'conflict',
      `An app shows at most ${MAX_OF_PROJECT} previews at once. Delete one first.`,
    );
  await requirePlace(tx, ctx, 'previews', project.org_id);
}

interface Of {
  project: ProjectRow;
  threadId: string | null;
  /** What it shows first. */
  sourceId: string | null;
  followsHead: boolean;
}

/** Stores an accepted preview, publishes it, and enqueues its job. */
export async function openPreview(
  tx: Tx,
  { body, principal }: Call<unknown, Static<typeof Order>>,
  { project, threadId, sourceId, followsHead }: Of,
): Promise<PreviewRow> {
  const preview = await insertPreview(tx, {
    org_id: project.org_id,
    id: newId('prv'),
    project_id: project.id,
    thread_id: threadId,
    listed: project.kind === 'platform',
    token: newToken(),
    command: body.command,
    port: body.port,
    setup: body.setup ?? true,
    source_id: sourceId,
    follows_head: followsHead,
    created_by: principal.actorId,
    expires_at: sql<Date>`now() + ${LIFE_SECONDS} * interval '1 second'`,
  });
  appendEvent(tx, { ...scopeOf(project), threadId }, 'preview.updated', {
    id: preview.id,
    status: preview.status,
  });
  await enqueue(
    tx,
    'preview.work',
    { previewId: preview.id },
    { key: previewKey(preview.id), turnOf: preview },
  );
  return preview;
}
