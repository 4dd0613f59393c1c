/**
 * Drives one turn of an agent: reads the runner's journal and writes the log. A worker that dies is replaced
 * by one that reads the journal again from its start, so every write here may be repeated: tool calls are
 * known by their call id, questions by their request id.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RunnerError } from '@headrace/runner/client';
import type { JournalEntry, TaskEnd } from '@headrace/runner/protocol';
import { pendingApprovals } from '../approvals/index.ts';
import { clean } from '../db/clean-text.ts';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { takeMessage } from '../messages/index.ts';
import { awaitRunner, RunnerAway } from '../runner/await-runner.ts';
import { findTask } from '../runner/find-task.ts';
import { followTask } from '../runner/follow-task.ts';
import { logRefusal, refusalWarning } from '../settings/index.ts';
import { awaitHost, isOverdue } from './at-host.ts';
import type { Found } from './at-host.ts';
import type { StartedRun } from './claimed-run.ts';
import { answerQuestion } from './questions.ts';
import { callKey, recordTool } from './record-tool.ts';
import { RollingSnapshot } from './snapshots/rolling-snapshot.ts';
import { markSteerable } from './store.ts';
import { TURN_LIMIT_MS } from './turn-request.ts';
import { RunWatch } from './watch-run.ts';
import { whileActive } from './while-active.ts';

/**
 * How a turn ended. `lost`: its journal broke off. `gone`: the run was ended by its thread meanwhile
 * (archive, delete). `left`: this worker stops, another one goes on.
 */
export type TurnEnd =
  | { kind: 'ended'; end: TaskEnd; text: string }
  | { kind: 'lost'; text: string }
  | { kind: 'gone' }
  | { kind: 'left' };

export const NOT_STARTED = {
  type: 'end',
  outcome: 'failed',
  exitCode: null,
  signal: null,
  timedOut: false,
  oom: false,
  durationMs: 0,
} as const;
/** How a turn ends that is stopped without its agent's word. */
export const STOPPED: TaskEnd = { ...NOT_STARTED, outcome: 'cancelled', error: null };

/** A journal that has not ended this long after its turn must have is given up. */
const READ_LIMIT_MS = TURN_LIMIT_MS + 5 * 60_000;

const READS = 3;
const READ_AGAIN_MS = 500;

export async function driveTurn(started: StartedRun): Promise<TurnEnd> {
  const { ctx, job, run } = started;
  const watch = new RunWatch(started);
  // What a repair makes is published by its apply alone; what is at a host stays there.
  const snapshots =
    run.kind === 'repair' || ctx.host ? null : new RollingSnapshot(started, () => watch.isWaiting);
  let workspace: 'kept' | 'lost' = 'kept';
  let text = '';
  let found = 'lost' as Found;
  try {
    const followed = await followTask(ctx, run.id, {
      signal: job.signal,
      limitMs: READ_LIMIT_MS,
      async onEntry(entry) {
        if (watch.isGone) return;
        if (entry.type === 'tool') snapshots?.note(entry);
        if (entry.type === 'text') text = clean(entry.content);
        else await record(started, entry);
      },
      async resumeFrom(_next, breaks) {
        if (ctx.host) {
          found = await awaitTask(started);
          if (found !== 'here') return null;
        } else if (breaks === READS || !(await hasTask(started))) return null;
        text = '';
        started.refusals.length = 0;
        return 0;
      },
    });
    if (followed.kind === 'left') return followed;
    if (followed.kind === 'broken') {
      if (found === 'stopped') return { kind: 'ended', end: STOPPED, text };
      if (found === 'gone') return { kind: 'gone' };
      if (found === 'left') return { kind: 'left' };
      workspace = 'lost';
      ctx.log.warn({ err: followed.error, run: run.id }, 'the journal of a run broke off: the run is lost');
      return { kind: 'lost', text };
    }
    return watch.isGone ? { kind: 'gone' } : { kind: 'ended', end: followed.end, text };
  } finally {
    watch.stop();
    await snapshots?.stop(workspace);
  }
}

/**
 * Whether a runner answers and still has the task: then a broken connection is not a lost sandbox, and the
 * journal is read again.
 */
async function hasTask({ ctx, run }: StartedRun): Promise<boolean> {
  const isAnswering = await awaitRunner(ctx).then(
    () => true,
    (error: unknown) => {
      // It is left to another worker.
      if (error instanceof RunnerAway) throw error;
      return false;
    },
  );
  return isAnswering && (await findTask(ctx, run.id)) !== null;
}

/** Whether the host is back, with the task, after its connection broke. */
async function awaitTask(started: StartedRun): Promise<Found> {
  const { ctx, run } = started;
  for (;;) {
    const found = await awaitHost(started);
    if (found !== 'here') return found;
    if (isOverdue(started)) return 'lost';
    // A host that breaks each journal off is not asked without a pause.
    await sleep(READ_AGAIN_MS);
    try {
      return (await findTask(ctx, run.id)) ? 'here' : 'lost';
    } catch (error) {
      if (!(error instanceof RunnerError)) throw error;
    }
  }
}

/** Acts on one entry of the journal. */
async function record(started: StartedRun, entry: JournalEntry): Promise<void> {
  const { ctx, project, run } = started;
  switch (entry.type) {
    case 'tool':
      return whileActive(started, async (tx) => {
        if (!(await endsWithRun(tx, run, entry))) await recordTool(tx, project, run, entry);
      });
    case 'ready':
      return entry.steerable ? whileActive(started, (tx) => markSteerable(tx, run.id)) : undefined;
    case 'steered':
      return whileActive(started, (tx) => takeMessage(tx, run.id, entry.id));
    case 'refused':
      started.refusals.push(refusalWarning(entry));
      return logRefusal(ctx, entry, { project: run.project_id, thread: run.thread_id, run: run.id });
    case 'permission':
      return answerQuestion(started, entry);
  }
}

/**
 * Whether a tool call ends with the run, whose own end publishes it: the runner closes what is open when its
 * task ends, which is a cancelled call, or one whose question nobody answered.
 */
async function endsWithRun(
  tx: Tx,
  run: RunRow,
  entry: Extract<JournalEntry, { type: 'tool' }>,
): Promise<boolean> {
  if (entry.status !== 'failed') return entry.status === 'cancelled';
  const open = await tx.db
    .selectFrom('approvals')
    .innerJoin('tools', 'tools.id', 'approvals.tool_id')
    .select('approvals.id')
    .where('tools.run_id', '=', run.id)
    .where('tools.call_id', '=', callKey(entry.toolCallId))
    .where(pendingApprovals)
    .executeTakeFirst();
  return open !== undefined;
}
