/**
 * Follows a task at the runner to its end, for runs, commands, builds and previews. The task outlives the
 * connection that its journal is read by, and the worker that reads it:
 *
 *   reading   the end entry came                       ended
 *   reading   `signal` fired                           left: another worker reads on
 *   reading   the connection broke, the runner died,   reading again, or broken: `resumeFrom` decides
 *             or `limitMs` passed
 */
import { RunnerError } from '@headrace/runner/client';
import type { JournalEntry, TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';

export type Followed =
  | { kind: 'ended'; end: TaskEnd }
  | { kind: 'broken'; error: RunnerError }
  | { kind: 'left' };

interface FollowOptions {
  /** Offset of the first entry to read; the journal's first by default. */
  from?: number;
  /** Fires when this worker stops reading: it ends, or has no use for more entries. */
  signal: AbortSignal;
  /** How long one connection is read. */
  limitMs?: number;
  /**
   * Takes the entries before the end, one after the other. A RunnerError that it throws counts as a broken
   * connection; any other error ends the reading.
   */
  onEntry(this: void, entry: Exclude<JournalEntry, TaskEnd>): void | Promise<void>;
  /**
   * Returns the offset to read on from after the connection broke for the `breaks`th time in a row, or null when the
   * task is lost. `next` is the offset after the last entry. Without it the first break is the last.
   */
  resumeFrom?(this: void, next: number, breaks: number): Promise<number | null>;
}

/** A connection that lasted for so long breaks for a reason of its own: breaks are counted anew. */
const STEADY_MS = 60_000;

/** Throws what `onEntry` and `resumeFrom` throw. */
export async function followTask(
  ctx: Pick<Context, 'runner'>,
  taskId: string,
  options: FollowOptions,
): Promise<Followed> {
  const { signal, resumeFrom, limitMs = Infinity } = options;
  let from: number | null = options.from ?? 0;
  for (let breaks = 1; ; breaks++) {
    const begunAt = performance.now();
    const read = await readJournal(ctx, taskId, from, options);
    if (read.kind !== 'broken') return read;
    const ms = performance.now() - begunAt;
    if (ms > STEADY_MS && ms < limitMs) breaks = 1;
    from = (await resumeFrom?.(read.next, breaks)) ?? null;
    if (from === null) return signal.aborted ? { kind: 'left' } : { kind: 'broken', error: read.error };
  }
}

type Read = Exclude<Followed, { kind: 'broken' }> | { kind: 'broken'; error: RunnerError; next: number };

async function readJournal(
  ctx: Pick<Context, 'runner'>,
  taskId: string,
  from: number,
  { signal, limitMs, onEntry }: FollowOptions,
): Promise<Read> {
  const reading = limitMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  let next = from;
  try {
    for await (const entry of ctx.runner.journal(taskId, from, reading)) {
      if (entry.type === 'end') return { kind: 'ended', end: entry };
      next = entry.offset + 1;
      await onEntry(entry);
    }
    return {
      kind: 'broken',
      error: new RunnerError(503, 'unavailable', 'The journal ended without an end.'),
      next,
    };
  } catch (error) {
    if (signal.aborted) return { kind: 'left' };
    if (error instanceof RunnerError) return { kind: 'broken', error, next };
    throw error;
  }
}
