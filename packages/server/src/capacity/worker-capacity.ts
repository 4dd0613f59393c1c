/**
 * How many jobs with a sandbox a worker may hold: by number, and by the memory that the runner measured
 * last. A job that waits for a person takes no place, up to a bound: it works as little as a queued one, but
 * has its memory.
 */
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { JobKind } from '../jobs/enqueue.ts';
import type { HeldJob } from '../jobs/job.ts';

const MiB = 1024 * 1024;
/** Free memory that new sandboxes leave to the service, its database and the sandboxes that grow. */
const RESERVE_PART = 0.1;
const LEAST_RESERVE_BYTES = 512 * MiB;
/** The memory that a new sandbox may take, of which it shows little yet. */
const SANDBOX_BYTES = 256 * MiB;
const YOUNG_MS = 5_000;
/** Running and waiting jobs together, as a multiple of the number that may run. */
const MOST_HELD = 4;

const SANDBOXES: ReadonlySet<JobKind> = new Set<JobKind>([
  'run.work',
  'exec.work',
  'build.work',
  'preview.work',
]);

interface Holding {
  kind: JobKind;
  /** The most that may run at once. */
  limit: number;
  /** All jobs that this worker holds. */
  held: readonly HeldJob[];
  /** The runner's last measurement; without one the number alone decides. */
  load: RunnerStatus['load'];
  /** On this process's clock, ms. */
  now: number;
}

/**
 * How many jobs of that kind this worker may hold now, waiting ones included. One may always run, however
 * little memory is free: nothing waits for ever.
 */
export function runCapacity({ kind, limit, held, load, now }: Holding): number {
  const own = held.filter((h) => h.kind === kind);
  const waiting = own.filter((h) => h.isWaiting).length;
  const byNumber = Math.min(limit + waiting, limit * MOST_HELD);
  if (!load) return byNumber;
  const young = held.filter((h) => SANDBOXES.has(h.kind) && now - h.since < YOUNG_MS).length;
  const spare = load.freeBytes - Math.max(LEAST_RESERVE_BYTES, load.memoryBytes * RESERVE_PART);
  const more = Math.max(own.length === waiting ? 1 : 0, Math.floor(spare / SANDBOX_BYTES) - young);
  return Math.min(byNumber, own.length + more);
}
