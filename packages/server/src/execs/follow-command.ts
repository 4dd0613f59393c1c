/** Follows a command at its runner to its end. */
import { RunnerError } from '@headrace/runner/client';
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { ExecRow } from '../db/schema.ts';
import type { Job } from '../jobs/worker.ts';
import { logRefusal } from '../settings/index.ts';
import { awaitRunner } from '../runner/await-runner.ts';
import { OutputCollector } from './collect-output.ts';

/** `left`: this worker stops, another goes on. */
export type Outcome =
  | { kind: 'ended'; end: TaskEnd; output: OutputCollector }
  | { kind: 'lost' }
  | { kind: 'left' };

const READS = 3;

/**
 * Whether a runner that answers has the task. A connection that broke tells nothing: throws while none
 * answers.
 */
export async function isThere(ctx: Context, operationId: string): Promise<boolean> {
  await awaitRunner(ctx);
  return ctx.runner.task(operationId).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RunnerError && error.status === 404) return false;
      throw error;
    },
  );
}

/**
 * A connection that broke is no lost sandbox: where the runner still has the task, its journal is read
 * again.
 */
export async function follow(ctx: Context, job: Job<'exec.work'>, exec: ExecRow): Promise<Outcome> {
  for (let reads = 1; ; reads++) {
    const outcome = await readJournal(ctx, job, exec);
    if (outcome.kind !== 'lost' || reads === READS || !(await isThere(ctx, exec.operation_id)))
      return outcome;
  }
}

async function readJournal(
  ctx: Context,
  job: Job<'exec.work'>,
  { operation_id: operationId, thread_id: threadId, project_id: project }: ExecRow,
): Promise<Outcome> {
  const output = new OutputCollector();
  const stop = new AbortController();
  const leave = () => stop.abort();
  job.signal.addEventListener('abort', leave);
  // An archive or deletion ends the command.
  const look = async () => {
    const thread = await ctx.db
      .selectFrom('threads')
      .select(['archived_at', 'deleted_at'])
      .where('id', '=', threadId)
      .executeTakeFirst();
    if (thread?.archived_at || thread?.deleted_at) await ctx.runner.cancel(operationId);
  };
  const timer = setInterval(() => void look().catch(() => {}), 1_000);
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === threadId) void look().catch(() => {});
  });
  try {
    for await (const entry of ctx.runner.journal(operationId, 0, stop.signal)) {
      if (entry.type === 'output') output.add(entry.stream, clean(entry.text));
      if (entry.type === 'refused') logRefusal(ctx, entry, { project, thread: threadId, exec: operationId });
      if (entry.type === 'end') return { kind: 'ended', end: entry, output };
    }
    return { kind: 'lost' };
  } catch (error) {
    if (job.signal.aborted) return { kind: 'left' };
    if (error instanceof RunnerError) return { kind: 'lost' };
    throw error;
  } finally {
    clearInterval(timer);
    unlisten();
    job.signal.removeEventListener('abort', leave);
    stop.abort();
  }
}
