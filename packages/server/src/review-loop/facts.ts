/** The facts that the next status of a locked loop depends on. Every look reads them, with as few statements as possible. */
import { sql } from 'kysely';
import type { PullRequestRow, ReviewLoopRow, ReviewPassRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { LoopLook } from '../pull-requests/index.ts';
import type { EffectiveSettings } from '../settings/index.ts';
import { hasUnpushed } from '../sync/index.ts';
import type { Looked } from '../sync/index.ts';
import { isIdle } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { passOutcome } from './pass-outcome.ts';
import type { PassEnd } from './pass-outcome.ts';
import { newPoints } from './points.ts';
import type { Point } from './points.ts';
import { unsettledPasses } from './store.ts';

export interface Driving {
  thread: LoadedThread;
  row: PullRequestRow;
  loop: ReviewLoopRow;
  settings: EffectiveSettings['reviewLoop'];
  /** Whether the loop may start anything new. */
  mayBegin: boolean;
}

interface EndingPass extends PassEnd {
  pass: ReviewPassRow;
}

export interface Facts {
  look: LoopLook;
  points: Point[];
  /** Those that are not settled, newest first. In `fixing`, the first one is the current pass. */
  passes: EndingPass[];
}

export async function readFacts(tx: Tx, looked: Looked, at: Driving): Promise<Facts> {
  const { thread, row, loop, settings, mayBegin } = at;
  const points = await newPoints(tx.db, loop.id, looked.reviewThreads);
  const passes = await Promise.all(
    (await unsettledPasses(tx.db, loop)).map(async (pass) => ({
      pass,
      ...(await passOutcome(tx, row, pass)),
    })),
  );
  const current = loop.status === 'fixing' ? passes[0] : undefined;
  const look = {
    ...(await timesOf(tx, at, current?.endedAt ?? null)),
    headSha: row.head_sha,
    isOwnHead: await isOwnHead(tx, at, passes),
    push: await pushOf(tx, at),
    isIdle: await isIdle(tx.db, thread.thread),
    summary: row.scm_summary!,
    pointCount: points.length,
    pass: current?.outcome ?? null,
    passEndedAt: current?.endedAt ?? null,
    lostRuns: current?.pass.lost_runs ?? 0,
    // Read only if a pass is due.
    refusal: null,
    mayBegin,
    maxPasses: settings.maxPasses,
    ...looked.ctx.config.reviewLoop,
  };
  return { look, points, passes };
}

/**
 * The time, which is after the end of all runs that are seen; and when the newest run of a user's message completed after
 * the loop got stuck or its pass ended.
 */
async function timesOf(
  tx: Tx,
  { thread: { thread }, loop }: Driving,
  passEndedAt: Date | null,
): Promise<Pick<LoopLook, 'now' | 'userRunCompletedAt'>> {
  const isStuck = loop.status === 'blocked' || loop.status === 'error';
  const since = isStuck ? loop.status_since : passEndedAt;
  const completed = sql`(
    select max(r.finished_at) from runs r join messages m on m.id = r.message_id
    where r.thread_id = ${thread.id} and r.status = 'completed' and m.role = 'user' and r.finished_at > ${since})`;
  const { rows } = await sql<{ now: Date; at: Date | null }>`
    select clock_timestamp() as now, ${since === null ? sql`null::timestamptz` : completed} as at`.execute(
    tx.db,
  );
  return { now: rows[0]!.now, userRunCompletedAt: rows[0]!.at };
}

/** Whether the head is unchanged or comes from a pass of this loop. */
async function isOwnHead(tx: Tx, { row, loop }: Driving, passes: Facts['passes']): Promise<boolean> {
  if (row.head_sha === loop.head_sha) return true;
  if (passes.some(({ pass, outcome }) => pass.kind === 'update' && outcome.is === 'changed')) return true;
  const made = await tx.db
    .selectFrom('sources as s')
    .innerJoin('review_passes as p', 'p.run_id', 's.run_id')
    .select('p.id')
    .where('s.id', '=', row.head_source_id)
    .where('p.loop_id', '=', loop.id)
    .executeTakeFirst();
  return made !== undefined;
}

/** A running update from the base also leads to a push. */
async function pushOf(tx: Tx, { thread: { thread }, row }: Driving): Promise<LoopLook['push']> {
  if (row.push_status !== 'current') return row.push_status;
  const isPending =
    row.branch_update?.status === 'running' || (row.auto_push && (await hasUnpushed(tx.db, thread, row)));
  return isPending ? 'pending' : 'current';
}
