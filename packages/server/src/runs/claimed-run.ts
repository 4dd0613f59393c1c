import type { Rules } from '../approvals/index.ts';
import type { Context } from '../context.ts';
import type { ProjectRow, RunRow, ThreadRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import type { Attempt, Repairs } from './repair/attempt.ts';

/** A run that this worker's job has claimed. The job holds its thread's key, and so its workspace. */
export interface ClaimedRun {
  ctx: Context;
  job: Job<'run.work'>;
  repairs: Repairs;
  run: RunRow;
}

/** A claimed run that has started, with everything that its turn needs. */
export interface StartedRun extends ClaimedRun {
  thread: ThreadRow;
  project: ProjectRow;
  rules: Rules;
  /** Hosts that its sandbox was refused, as its turn reads them: for the run's warnings. */
  refusals: { path: string; reason: string }[];
  /** Whether a worker before this one has driven it. */
  isResumed: boolean;
  /** What a repair starts from; null for any other run. */
  repair: Attempt | null;
}

/** Why a run failed whose sandbox is gone: in this worker's time, or before it took the run over; or with its host. */
export type LostCode = 'sandbox_lost' | 'worker_lost' | 'host_lost';
