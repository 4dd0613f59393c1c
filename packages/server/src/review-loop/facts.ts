import { sql } from 'kysely';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { LoadedPullRequest, LoopLook } from '../pull-requests/index.ts';
import type { EffectiveSettings } from '../settings/index.ts';
import { hasUnpushed } from '../sync/index.ts';
import type { Looked } from '../sync/index.ts';
import { isIdle } from '../threads/index.ts';

interface Locked {
  thread: ThreadRow;
  loaded: LoadedPullRequest;
  settings: EffectiveSettings['reviewLoop'];
}

/** What the next status of a locked loop depends on, now. */
export async function readFacts(
  tx: Tx,
  { ctx }: Looked,
  { thread, loaded: { row }, settings }: Locked,
): Promise<LoopLook> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(tx.db);
  const isPushing = row.push_status === 'current' && row.auto_push && (await hasUnpushed(tx.db, thread, row));
  return {
    now: rows[0]!.now,
    headSha: row.head_sha,
    isOwnHead: false,
    push: isPushing ? 'pending' : row.push_status,
    isIdle: await isIdle(tx.db, thread),
    summary: row.scm_summary!,
    pointCount: 0,
    userRunCompletedAt: null,
    pass: null,
    hasLostRuns: false,
    refusal: 'not_configured',
    maxPasses: settings.maxPasses,
    ...ctx.config.reviewLoop,
  };
}
