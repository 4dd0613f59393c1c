/**
 * How many jobs with a sandbox a worker may hold: by number, and by the memory that the runner measured
 * last. A job that waits for a person takes no place that another organization could use: it works as little
 * as a queued one. It has its memory, though, so its organization may have only so many of them here.
 */
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { JobKind } from '../jobs/enqueue.ts';
import type { HeldJob, Room } from '../jobs/job.ts';

const MiB = 1024 * 1024;
/** Free memory that new sandboxes leave to the service, its database and the sandboxes that grow. */
const RESERVE_PART = 0.1;
const LEAST_RESERVE_BYTES = 512 * MiB;
/** The memory that a new sandbox may take, of which it shows little yet. */
const SANDBOX_BYTES = 256 * MiB;
const YOUNG_MS = 5_000;
/** An organization's waiting jobs, as a multiple of the number that may run. */
const MOST_WAITING = 4;

const SANDBOXES: ReadonlySet<JobKind> = new Set<JobKind>([
  'run.work',
  'exec.work',
  'build.work',
  'setup.work',
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
 * What this worker may hold of that kind now. One may always run, however little memory is free: no
 * organization waits for ever for what others keep waiting. Where memory is short, that one is of an
 * organization without a waiting job here.
 */
export function runCapacity({ kind, limit, held, load, now }: Holding): Room {
  const own = held.filter((h) => h.kind === kind);
  const waiting = Map.groupBy(
    own.filter((h) => h.isWaiting),
    (h) => h.org,
  );
  const isFull = (most: number) => [...waiting].filter(([, of]) => of.length >= most).map(([org]) => org);
  const waitingCount = own.filter((h) => h.isWaiting).length;
  const byNumber = { most: limit + waitingCount, full: isFull(limit * MOST_WAITING) };
  if (!load) return byNumber;
  const young = held.filter((h) => SANDBOXES.has(h.kind) && now - h.since < YOUNG_MS).length;
  const spare = load.freeBytes - Math.max(LEAST_RESERVE_BYTES, load.memoryBytes * RESERVE_PART);
  const more = Math.floor(spare / SANDBOX_BYTES) - young;
  if (more > 0) return { ...byNumber, most: Math.min(byNumber.most, own.length + more) };
  return own.length === waitingCount
    ? { most: own.length + 1, full: isFull(1) }
    : { most: own.length, full: [] };
}
