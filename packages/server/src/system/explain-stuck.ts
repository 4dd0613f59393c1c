import type { Found } from './find-stuck.ts';

interface Explained {
  reason: string;
  remedy: string;
}

const CAUSES: Record<NonNullable<Found['cause']>, Explained> = {
  cancel: {
    reason: 'Its end was asked for, and its sandbox has not ended.',
    remedy: "Look at the runner of its host; restart that host's worker and runner.",
  },
  lease: {
    reason: 'The process that worked on it ended, and no worker has settled it.',
    remedy: 'Start a process with the role worker; it settles such writes within seconds.',
  },
  unknown: {
    reason: 'Nobody knows whether its effect outside of this service happened.',
    remedy: 'See the log for why it cannot be found out, and bring that side back; it is looked at again.',
  },
  storage: {
    reason: 'Stored objects that are to go cannot be deleted.',
    remedy: "See the log for the store's answer; the deletion is tried again, at least every hour.",
  },
  rows: {
    reason: 'It was deleted, and its sources and builds are not removed.',
    remedy: 'Start a process with the role worker; where one runs, see its log for the fault.',
  },
  workspace: {
    reason: 'Its workspace cannot be saved or ended.',
    remedy: 'See the log for the fault; it is tried again, at least every minute.',
  },
};

/** Why it does not move, and what an operator does about it. */
export function explain({ cause, has_job: hasJob, is_claimed: isClaimed, ...row }: Found): Explained {
  if (cause) return CAUSES[cause];
  if (!row.has_workers)
    return {
      reason: isClaimed ? 'The worker that had it is gone.' : 'No worker is alive to begin it.',
      remedy: 'Start a process with the roles worker and runner.',
    };
  if (row.failures > 0)
    return {
      reason: `Its job failed ${row.failures} times, and is tried again.`,
      remedy: 'See the log for the fault.',
    };
  if (isClaimed)
    return {
      reason: 'The worker that had it is silent.',
      remedy: 'Stop that process, if it still runs: others take its jobs over.',
    };
  if (!hasJob)
    return {
      reason: 'It has no job.',
      remedy: 'Stop it, or retry it; workers look for such work once a second.',
    };
  return {
    reason: 'Workers are alive, and none takes its job.',
    remedy: 'Look at the memory that the runners have free, and at the limits of the workers.',
  };
}
