/**
 * What differs in a run at a host. The host goes on while its line is broken, and keeps the journal: the run's job is put off
 * until it is back, up to the grace, so that it keeps no worker from other work. Whether a task was ever begun the host
 * knows, however often its program ends.
 *
 *   here      online
 *   lost      away for longer than the grace, or deleted: the run fails `host_lost`
 *   stopped   away, and the run is to be stopped: that counts at once, and the host is told when it is back
 *   gone      the run was ended by its thread
 *   left      the job is put off, or this worker stops: a later attempt goes on from the journal
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RunnerError } from '@headrace/runner/client';
import type { HostTurnRequest } from '@headrace/runner/host/protocol';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { RunRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { hostDelaySeconds, hostStanding, hostWait } from '../hosts/index.ts';
import { findTask } from '../runner/find-task.ts';
import { toldOf } from '../skills/index.ts';
import type { ClaimedRun, StartedRun } from './claimed-run.ts';
import { isActive } from './state.ts';
import { conversationOf, TURN_LIMIT_MS } from './turn-request.ts';

const LOOK_MS = 1_000;
/** Only a fallback: a host that connects, and a stop, make the job due. */
const LOOK_AGAIN_SECONDS = 20;

export type Found = 'here' | 'lost' | 'stopped' | 'gone' | 'left';

/** Whether the host is here; where nobody knows yet, the job is put off. */
export async function awaitHost({ ctx, job, run }: ClaimedRun): Promise<Found> {
  if (job.signal.aborted) return 'left';
  const now = await ctx.db
    .selectFrom('runs')
    .select(['status', 'cancel_requested_at'])
    .where('id', '=', run.id)
    .executeTakeFirst();
  if (!now || !isActive(now.status)) return 'gone';
  const standing = await hostStanding(ctx, ctx.host!.target.hostId);
  if (standing.is === 'here') return 'here';
  if (now.cancel_requested_at) return 'stopped';
  if (standing.is === 'gone' || standing.seconds > ctx.config.hostGraceSeconds) return 'lost';
  return putOffUntilBack({ ctx, job, run }, standing.seconds);
}

async function putOffUntilBack(
  { ctx, job, run }: Pick<ClaimedRun, 'ctx' | 'job' | 'run'>,
  awaySeconds: number,
): Promise<Found> {
  const graceLeft = Math.max(1, Math.ceil(ctx.config.hostGraceSeconds - awaySeconds) + 1);
  return transaction(ctx, async (tx) => {
    // A stop either is seen here, or finds the job put off and makes it due.
    const now = await tx.db
      .selectFrom('runs')
      .select('cancel_requested_at')
      .where('id', '=', run.id)
      .forUpdate()
      .executeTakeFirst();
    if (now?.cancel_requested_at) return 'stopped';
    const { hostId } = ctx.host!.target;
    const delay = await hostDelaySeconds(tx, hostId, Math.min(graceLeft, LOOK_AGAIN_SECONDS));
    await job.putOff(tx, hostWait(hostId), delay);
    return 'left';
  });
}

/** Whether a turn must have ended by now, and its host cannot be asked: nobody waits for it any longer. */
export const isOverdue = ({ ctx, run }: ClaimedRun): boolean =>
  Date.now() - run.started_at!.getTime() > TURN_LIMIT_MS + ctx.config.hostGraceSeconds * 1000;

/** Has the host begin the run's turn, unless it has. What is not `here` says why it did not. */
export async function ensureTurn(started: StartedRun): Promise<Found> {
  for (;;) {
    const found = await awaitHost(started);
    if (found !== 'here') return found;
    try {
      if (await findTask(started.ctx, started.run.id)) return 'here';
      await started.ctx.host!.client.startTurn(
        started.run.id,
        await requestOf(started),
        started.job.claimedAt,
      );
      return 'here';
    } catch (error) {
      if (!(error instanceof RunnerError)) throw error;
      // It had begun and is forgotten, or there is nothing to begin in.
      if (error.status === 410 || error.status === 404) return 'lost';
      if (error.status !== 503) throw error;
      if (isOverdue(started)) return 'lost';
      await sleep(LOOK_MS);
    }
  }
}

async function requestOf({ ctx, run, rules }: StartedRun): Promise<HostTurnRequest> {
  const { target } = ctx.host!;
  const binding = await ctx.db
    .selectFrom('bindings')
    .select('name')
    .where('id', '=', target.bindingId)
    .executeTakeFirstOrThrow();
  const { prompt, attachments, history } = await conversationOf(ctx, run);
  const { told } = toldOf(run);
  return {
    kind: 'turn',
    workspaceId: run.thread_id,
    binding: binding.name,
    mode: target.workspaceMode,
    provider: target.provider,
    model: target.model ?? null,
    prompt,
    history,
    ...(attachments.length > 0 ? { attachments } : {}),
    // The files of skills stay here.
    ...(told?.instructions ? { told: { instructions: told.instructions, skills: [] } } : {}),
    permissions: rules.some((rule) => rule.decision !== 'allow') ? 'ask' : 'allow',
    timeoutMs: TURN_LIMIT_MS,
  };
}

/**
 * In a folder itself one run works at a time, over all threads. Whether another one does; asked again with `tx` when the run starts,
 * under a lock of the folder.
 */
export async function isFolderTaken(
  db: Context['db'] | Tx['db'],
  { host }: Pick<Context, 'host'>,
  run: Pick<RunRow, 'thread_id'>,
): Promise<boolean> {
  if (host?.target.workspaceMode !== 'direct') return false;
  const { rows } = await sql`
    select from threads t join runs r on r.thread_id = t.id
    where t.execution_target->>'hostId' = ${host.target.hostId} and t.execution_target->>'bindingId' = ${host.target.bindingId}
      and t.execution_target->>'workspaceMode' = 'direct' and t.execution_target is not null and t.deleted_at is null
      and t.id <> ${run.thread_id} and r.status in ('running', 'waiting') limit 1`.execute(db);
  return rows.length > 0;
}

export async function lockFolder(tx: Tx, { host }: Pick<Context, 'host'>): Promise<void> {
  if (host?.target.workspaceMode !== 'direct') return;
  const name = `folder ${host.target.bindingId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.db);
}
