import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { transaction } from '../../db/transaction.ts';
import { base32, idTime } from '../../ids.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { every } from '../../jobs/every.ts';
import type { When } from '../../jobs/every.ts';
import { MANY_PACKS, MAX_PACK } from './plan.ts';

const EVERY_MS = 15_000;
/**
 * An id is made before its pack is put, and visible once that is committed. A pack that takes longer is
 * counted with the next one.
 */
const OVERLAP_MS = 5 * 60_000;

type Reconciling = Pick<Context, 'db' | 'bus' | 'log' | 'shutdown'>;

/**
 * Gives a job to projects that have many small packs: at the start it looks at all of them, then at those
 * with new packs. Safe in every process at once. A count with each import would cost all what one in twenty
 * needs.
 */
export function reconcileRepacks(ctx: Reconciling, when: When): void {
  let known: NewestPacks | null = null;
  const look = async () => {
    known = await enqueueRepacks(ctx, known);
  };
  every(EVERY_MS, look, {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'packs were not looked through'),
  }).runNow();
}

/** By project. */
type NewestPacks = ReadonlyMap<string, string>;

/**
 * `known`: what the last look returned. A project whose job could do nothing gets none again before it has
 * a new pack.
 */
export async function enqueueRepacks(
  ctx: Pick<Reconciling, 'db' | 'bus'>,
  known: NewestPacks | null,
): Promise<NewestPacks> {
  const { rows } = await sql<{ project_id: string; org_id: string; newest: string; is_queued: boolean }>`
    select fresh.project_id, p.org_id, fresh.newest, exists (select from jobs j where j.key = 'repack:' || p.id) as is_queued
    from (select project_id, max(id) as newest from packs where id >= ${known ? firstId(idTime() - OVERLAP_MS) : ''} group by project_id) as fresh join projects p on p.id = fresh.project_id
    where p.deleted_at is null and (select count(*) from packs s where s.project_id = p.id and s.byte_size <= ${MAX_PACK.bytes} and octet_length(s.index) <= ${MAX_PACK.indexBytes}) >= ${MANY_PACKS}`.execute(
    ctx.db,
  );
  for (const { project_id: projectId, newest, is_queued: isQueued, ...row } of rows) {
    if (!isQueued && known?.get(projectId) !== newest)
      await transaction(ctx, (tx) =>
        enqueue(
          tx,
          'source.repack',
          { projectId },
          { key: `repack:${projectId}`, turnOf: { ...row, project_id: projectId } },
        ),
      );
  }
  return new Map(rows.map((row) => [row.project_id, row.newest]));
}

/** The smallest id of a pack of that time. */
function firstId(ms: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(ms, 0, 6);
  return `pack_${base32(bytes)}`;
}
