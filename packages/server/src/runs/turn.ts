/**
 * Drives one turn of an agent: consumes the runner's journal and writes the log. A worker that dies is
 * replaced by one that reads the journal again from its begin: every write here is told twice without harm
 * (tool calls by their call id, questions by their request id).
 */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { JournalEntry, TaskEnd } from '@headrace/runner/protocol';
import { RunnerError } from '@headrace/runner/client';
import {
  commandOf,
  decide,
  overdueApprovals,
  pendingApprovals,
  requestApproval,
  resolveApprovals,
  resolvedApprovals,
} from '../approvals/index.ts';
import type { Rules } from '../approvals/index.ts';
import type { Context } from '../context.ts';
import type { ProjectRow, RunRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { putDraft } from '../events/index.ts';
import type { Job } from '../jobs/job.ts';
import { takeMessage } from '../messages/index.ts';
import { scopeOf } from '../projects/index.ts';
import { logRefusal } from '../settings/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import { clean } from '../db/clean-text.ts';
import { isHopeless } from './model-failure.ts';
import { callKey, cleanJson, recordTool } from './record-tool.ts';
import { resumeRun } from './resume-run.ts';
import { deliverMessages } from './steering.ts';
import { activeRuns, markSteerable, pauseRun, renameTool } from './store.ts';
import { TURN_LIMIT_MS } from './turn-request.ts';

/**
 * How a turn ended. `gone`: the run was ended by somebody else meanwhile (archive, delete). `left`: this
 * worker stops, another goes on.
 */
export type TurnEnd =
  | { kind: 'ended'; end: TaskEnd; text: string }
  | { kind: 'lost'; text: string }
  | { kind: 'gone' }
  | { kind: 'left' };

const LOOK_MS = 1_000;
/** A journal that ends no more than this after its turn has to have is given up. */
const READ_LIMIT_MS = TURN_LIMIT_MS + 5 * 60_000;

export async function driveTurn(
  ctx: Context,
  job: Job,
  project: ProjectRow,
  run: RunRow,
  rules: Rules,
): Promise<TurnEnd> {
  const stopReading = new AbortController();
  let text = '';
  let isGone = false;
  const watch = watchRun(ctx, job, run, () => {
    isGone = true;
  });
  const onLeave = () => stopReading.abort();
  job.signal.addEventListener('abort', onLeave);
  const limit = setTimeout(onLeave, READ_LIMIT_MS);
  try {
    for await (const entry of ctx.runner.journal(run.id, 0, stopReading.signal)) {
      if (entry.type === 'end') return isGone ? { kind: 'gone' } : { kind: 'ended', end: entry, text };
      if (isGone) continue;
      if (entry.type === 'text') {
        text = clean(entry.content);
        putDraft(ctx, {
          orgId: run.org_id,
          threadId: run.thread_id,
          runId: run.id,
          messageId: run.reply_message_id,
          content: text,
        });
      } else if (entry.type === 'tool')
        await fenced(ctx, job, run, async (tx) => {
          if (!(await endsWithRun(tx, run, entry))) await recordTool(tx, project, run, entry);
        });
      else if (entry.type === 'ready' && entry.steerable)
        await fenced(ctx, job, run, (tx) => markSteerable(tx, run.id));
      else if (entry.type === 'steered')
        await fenced(ctx, job, run, (tx) => takeMessage(tx, run.id, entry.id));
      else if (entry.type === 'refused')
        logRefusal(ctx, entry, { project: run.project_id, thread: run.thread_id, run: run.id });
      else if (entry.type === 'permission') await asked(ctx, job, project, run, entry, rules);
    }
    return { kind: 'lost', text };
  } catch (error) {
    if (job.signal.aborted) return { kind: 'left' };
    if (error instanceof RunnerError) return { kind: 'lost', text };
    throw error;
  } finally {
    clearTimeout(limit);
    job.signal.removeEventListener('abort', onLeave);
    stopReading.abort();
    watch.stop();
  }
}

/**
 * The runner closes what is open when its task ends: a cancelled call, or one whose question nobody
 * answered. The run's own end tells of those.
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

/** One write that the journal asks for: by this worker, while the run is open. */
async function fenced(
  ctx: Context,
  job: Job,
  run: RunRow,
  work: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    await whileOpen(tx, run, () => work(tx));
  });
}

/** Runs `work` only while the run is open: an archive may have ended it meanwhile. */
async function whileOpen(tx: Tx, run: RunRow, work: () => Promise<unknown>): Promise<unknown> {
  const open = await tx.db
    .selectFrom('runs')
    .select('id')
    .where('id', '=', run.id)
    .where(activeRuns)
    .forShare()
    .executeTakeFirst();
  return open ? work() : undefined;
}

/**
 * A question of the agent: answered by rule or by a remembered answer, else an approval is opened and the
 * run waits.
 */
async function asked(
  ctx: Context,
  job: Job,
  project: ProjectRow,
  run: RunRow,
  entry: Extract<JournalEntry, { type: 'permission' }>,
  rules: Rules,
): Promise<void> {
  const known = await ctx.db
    .selectFrom('approvals')
    .select(['status'])
    .where('run_id', '=', run.id)
    .where('request_id', '=', entry.requestId)
    .executeTakeFirst();
  if (known)
    return known.status === 'pending'
      ? undefined
      : answer(ctx, run.id, entry.requestId, known.status === 'approved');
  const tool = await ctx.db
    .selectFrom('tools')
    .selectAll()
    .where('run_id', '=', run.id)
    .where('call_id', '=', callKey(entry.toolCallId))
    .executeTakeFirst();
  // Agents tell late what a call is to do: what the question says is what rules, and a person, decide on.
  const name = clean(entry.name ?? tool?.name ?? '').slice(0, 200),
    input = entry.input == null ? tool?.input : cleanJson(entry.input);
  if (tool && !isDeepStrictEqual([name, input], [tool.name, tool.input]))
    await fenced(ctx, job, run, (tx) => renameTool(tx, tool.id, { name, input }));
  const decision = tool
    ? await decide(ctx.db, rules, { threadId: run.thread_id, tool: name, command: commandOf(input) })
    : 'deny';
  if (decision !== 'ask') return answer(ctx, run.id, entry.requestId, decision === 'allow');
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const now = await lockThreadById(tx, run.thread_id);
    if (!now) return;
    await whileOpen(tx, run, async () => {
      await requestApproval(
        tx,
        { project, run, tool: tool! },
        {
          requestId: entry.requestId,
          title: entry.title,
          timeoutSeconds: ctx.config.approvalTimeoutSeconds,
        },
      );
      if (!(await pauseRun(tx, run.id))) return;
      tx.afterCommit.push(() => job.setWaiting(true));
      appendEvent(
        tx,
        scopeOf(project),
        'run.waiting',
        { id: run.id, status: 'waiting' },
        { threadId: run.thread_id, runId: run.id },
      );
      await changeThread(tx, now, {}, 'always');
    });
  });
}

async function answer(ctx: Context, runId: string, requestId: string, allow: boolean): Promise<void> {
  // A question of a call that has ended meanwhile needs no answer.
  await ctx.runner.answerPermission(runId, requestId, allow).catch((error: unknown) => {
    if (!(error instanceof RunnerError) || error.status >= 500) throw error;
  });
}

/**
 * Looks after a run from outside of its journal, on wake-ups and once a second: a stop is passed on,
 * answered questions and messages that joined are handed to the agent, expired questions are closed, and a
 * run that somebody else ended, or whose model fails for good, is killed.
 */
function watchRun(ctx: Context, job: Job, run: RunRow, onGone: () => void): { stop(): void } {
  const answered = new Set<string>();
  let isCancelled = false;
  let isLooking = false,
    isHanding = false;
  // Beside the look, which must not wait for it: the agent answers when it takes a message, and may first
  // wait for an answer, or be stopped.
  const hand = async () => {
    if (isHanding) return;
    isHanding = true;
    try {
      await deliverMessages(ctx, run);
    } catch (err) {
      ctx.log.debug({ err, run: run.id }, 'a message was not taken yet; it is offered again in a second');
    } finally {
      isHanding = false;
    }
  };
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const now = await ctx.db
        .selectFrom('runs')
        .select([
          'status',
          'cancel_requested_at',
          'steerable',
          'model_failure',
          sql<boolean>`exists (select from approvals where run_id = runs.id)`.as('has_asked'),
        ])
        .where('id', '=', run.id)
        .executeTakeFirst();
      const isOpen = now?.status === 'running' || now?.status === 'waiting';
      job.setWaiting(now?.status === 'waiting');
      if (!isOpen) onGone();
      if ((!isOpen || now.cancel_requested_at || isHopeless(now.model_failure)) && !isCancelled) {
        await ctx.runner.cancel(run.id);
        isCancelled = true;
      }
      if (!isOpen) return;
      if (now.steerable) void hand();
      if (!now.has_asked) return;
      await expireApprovals(ctx, run);
      const resolved = await ctx.db
        .selectFrom('approvals')
        .select(['request_id', 'status'])
        .where('run_id', '=', run.id)
        .where(resolvedApprovals)
        .execute();
      for (const approval of resolved) {
        if (answered.has(approval.request_id)) continue;
        await answer(ctx, run.id, approval.request_id, approval.status === 'approved');
        answered.add(approval.request_id);
      }
    } catch (err) {
      ctx.log.debug({ err, run: run.id }, 'looking after a run failed; it is looked after again in a second');
    } finally {
      isLooking = false;
    }
  };
  const unlisten = ctx.bus.listen('control', (threadId) => {
    if (threadId === run.thread_id) void look();
  });
  const timer = setInterval(() => void look(), LOOK_MS);
  void look();
  return {
    stop() {
      unlisten();
      clearInterval(timer);
    },
  };
}

/** Questions whose time is over count as denied; the run goes on when none is left. */
async function expireApprovals(ctx: Context, run: RunRow): Promise<void> {
  const over = await ctx.db
    .selectFrom('approvals')
    .select('id')
    .where('run_id', '=', run.id)
    .where(overdueApprovals)
    .execute();
  if (!over.length) return;
  await transaction(ctx, async (tx) => {
    const now = await lockThreadById(tx, run.thread_id);
    if (!now) return;
    const { isLast } = await resolveApprovals(tx, now, {
      runId: run.id,
      ids: over.map(({ id }) => id),
      resolution: 'expire',
      by: null,
    });
    if (isLast) await resumeRun(tx, now, run.id);
  });
}
