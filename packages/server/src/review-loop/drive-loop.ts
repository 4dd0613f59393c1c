/**
 * Drives a review loop after a look. One transaction reads the facts that the next status depends on, and writes
 * the status together with its act. The loop reconciles from state, so a look may be late, repeated, or after a
 * restart. If a pass is due, what it quotes is read before that transaction.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { changePullRequest, enqueueSync, loopAfterLook } from '../pull-requests/index.ts';
import type { LoopAct, LoopChange, PullRequestChange } from '../pull-requests/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { lockBoth } from '../sync/index.ts';
import type { Looked, LoopDriver } from '../sync/index.ts';
import { changeThread } from '../threads/index.ts';
import type { ThreadChange } from '../threads/index.ts';
import { beginPass, retryPass } from './begin-pass.ts';
import { readFacts } from './facts.ts';
import type { Driving, Facts } from './facts.ts';
import { mergeByItself } from './merge.ts';
import type { Point } from './points.ts';
import { refusalOf } from './refusal.ts';
import { settleReplies } from './replies.ts';
import { writePass } from './store.ts';
import { readTold } from './told.ts';
import type { Told } from './told.ts';

/** What follows a step, outside its transaction. */
type Next = { is: 'rest' } | { is: 'merge' } | { is: 'tell'; points: Point[] };

/** A delayed worker repeats a look that is older than this. */
const MAX_AGE_MS = 180_000;

type Step = ReturnType<typeof loopAfterLook>;

interface Begun {
  runId?: string | null;
  pull?: PullRequestChange;
  thread?: ThreadChange;
}

export const driveLoop: LoopDriver = async (looked, { mayBegin }) => {
  const { reviewLoop: settings } = await effectiveSettings(looked.ctx.db, looked.loaded.row);
  const by = { settings, mayBegin };
  let next = await step(looked, by, null);
  if (next.is === 'tell')
    next = await step(looked, by, await readTold(looked, next.points, settings.instructions));
  if (next.is === 'merge') await mergeByItself(looked, settings.mergeMethod);
};

/** One step of the loop, if the pull request has not changed since the look. `told`: what its next pass quotes. */
const step = async (
  looked: Looked,
  by: Pick<Driving, 'settings' | 'mayBegin'>,
  told: Told | null,
): Promise<Next> =>
  transaction(looked.ctx, async (tx) => {
    const { job, loaded: before } = looked;
    await job.fence(tx);
    const { thread, loaded } = await lockBoth(tx, { threadId: before.row.thread_id, id: before.row.id });
    const { row, loop } = loaded;
    if (!thread || !loop?.enabled) return { is: 'rest' };
    if (row.version !== before.row.version || Date.now() - looked.readAt > MAX_AGE_MS) {
      await enqueueSync(tx, row);
      return { is: 'rest' };
    }
    const at: Driving = { ...by, thread, row, loop };
    const facts = await readFacts(tx, looked, at);
    const { change, act } = await decide(tx, looked.ctx, at, facts);
    if (act === 'pass' && told === null) return { is: 'tell', points: facts.points };
    await settlePasses(tx, at, { facts, step: { change, act } });
    const begun = await begin(tx, looked.ctx, { at, facts, act, told });
    const after = { ...change, ...fixRun(at, facts, begun) };
    await changePullRequest(tx, loaded, { ...soon(at, facts, after), ...begun.pull }, after);
    if (begun.thread) await changeThread(tx, thread, begun.thread);
    return { is: act === 'merge' ? 'merge' : 'rest' };
  });

async function decide(tx: Tx, ctx: Context, { thread, row, loop }: Driving, { look }: Facts): Promise<Step> {
  const step = loopAfterLook(loop, look);
  const refusal = step.act === 'pass' ? await refusalOf(tx, ctx, { thread, loaded: { row, loop } }) : null;
  return refusal === null ? step : loopAfterLook(loop, { ...look, refusal });
}

/** Performs the part of the act that belongs to the transaction. */
async function begin(
  tx: Tx,
  ctx: Context,
  { at, facts, act, told }: { at: Driving; facts: Facts; act: LoopAct | undefined; told: Told | null },
): Promise<Begun> {
  const { thread, row, loop } = at;
  if (act === undefined || act === 'merge') return {};
  if (act === 'pass') return beginPass(tx, ctx, { thread, loaded: { row, loop }, told: told! });
  const { pass } = facts.passes[0]!;
  if (act === 'retry') return retryPass(tx, ctx, { thread, pass });
  await writePass(tx, pass.id, {
    lost_runs: pass.lost_runs + 1,
    retry_at: inSeconds(facts.look.now, act.retryInSeconds),
  });
  return {};
}

/**
 * A pass whose outcome is known is settled once the loop has left it; a pass with a change is settled once the
 * change is pushed, whatever the loop's status is by then.
 */
async function settlePasses(
  tx: Tx,
  { row, loop, settings }: Driving,
  { facts, step: { change, act } }: { facts: Facts; step: Step },
): Promise<void> {
  const isFixing = loop.status === 'fixing' && (change.status ?? 'fixing') === 'fixing' && act !== 'pass';
  for (const [n, { pass, outcome }] of facts.passes.entries()) {
    const isChanged = outcome.is === 'changed';
    if (outcome.is === 'running' || (isChanged && facts.look.push !== 'current') || (isFixing && n === 0))
      continue;
    if (isChanged && settings.reply) await settleReplies(tx, pass.id, row);
    await writePass(tx, pass.id, { settled_at: facts.look.now });
  }
}

/** The run of the new or current pass. An update from the base has one only once there are conflicts. */
function fixRun({ loop }: Driving, { passes }: Facts, { runId }: Begun): LoopChange {
  const id = runId ?? (loop.status === 'fixing' ? passes[0]?.runId : null);
  return id ? { last_fix_run_id: id } : {};
}

/** How long the loop waits for the provider to say whether the pull request can be merged. */
const UNKNOWN_SECONDS = 60;

/** Schedules a look for the loop's next deadline. */
function soon({ row, loop }: Driving, { look: { now } }: Facts, change: LoopChange): PullRequestChange {
  const { wait_until: until, unknown_since: since } = { ...loop, ...change };
  const times = [until, since && inSeconds(since, UNKNOWN_SECONDS)]
    .filter((time) => time !== null && time > now)
    .map((time) => time!.getTime());
  const first = Math.min(...times, row.next_look_at?.getTime() ?? Infinity);
  return first === row.next_look_at?.getTime() || first === Infinity
    ? {}
    : { next_look_at: sql<Date>`least(next_look_at, ${new Date(first)})` };
}

const inSeconds = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1_000);
