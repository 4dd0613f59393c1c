/**
 * Whether a new execution is admitted. The first rule that applies decides:
 *
 *   overlap      with `skip`, one of the same key is open
 *   queue_full   with `queue`, ten of the same key wait already
 *   limit        the automation's threads have cost its monthly limit
 *   rate         60 executions by events and hooks were admitted in the last hour
 *   loop         automations have started each other more than three times
 */
import type { AutomationRow, ExecutionRow } from '../db/schema.ts';

const MOST_WAITING = 10;
const MOST_AN_HOUR = 60;
const DEEPEST = 3;
/**
 * Of so many executions by events or hooks within an hour, skipped ones are stored: a busy project has 200 events a
 * second. Further events leave no row; further hooks, which are answered with one, leave one without their payload.
 */
export const FLOOD = 200;

/** Open executions of one key. */
export interface Open {
  queued: number;
  running: number;
}

/** The rules' inputs for one automation; `countAdmitted` keeps them up to date. */
export interface Facts {
  open: Map<string, Open>;
  /** Executions by events and hooks, admitted in the last hour. */
  admittedLastHour: number;
  /** The cost of its threads this month. */
  spentMicros: number;
  /** Executions by events and hooks that are skipped at once; `FLOOD` where that many were made in the last hour. */
  skipped: number;
}

export interface Candidate {
  kind: ExecutionRow['kind'];
  /** What overlaps. */
  key: string;
  /** The number of executions in its chain, including itself. */
  depth: number;
}

type Settings = Pick<AutomationRow, 'overlap' | 'monthly_limit_micros'>;
export type SkippedReason = NonNullable<ExecutionRow['skipped_reason']>;

/** Why it is not admitted; null: it is. `overlap` refuses a run by hand. */
export function skippedReason(
  settings: Settings,
  facts: Facts,
  { kind, key, depth }: Candidate,
): SkippedReason | null {
  const { queued, running } = facts.open.get(key) ?? { queued: 0, running: 0 };
  if (settings.overlap === 'skip' && queued + running > 0) return 'overlap';
  if (kind === 'manual') return null;
  // If none runs, the oldest one does not wait: it has its turn.
  const waiting = running > 0 ? queued : queued - 1;
  if (settings.overlap === 'queue' && waiting >= MOST_WAITING) return 'queue_full';
  if (settings.monthly_limit_micros !== null && facts.spentMicros >= settings.monthly_limit_micros)
    return 'limit';
  if (isRated(kind) && facts.admittedLastHour >= MOST_AN_HOUR) return 'rate';
  return isTooDeep(depth) ? 'loop' : null;
}

/** Counts an execution that was admitted. */
export function countAdmitted(facts: Facts, { kind, key }: Candidate): void {
  const { queued, running } = facts.open.get(key) ?? { queued: 0, running: 0 };
  facts.open.set(key, { queued: queued + 1, running });
  if (isRated(kind)) facts.admittedLastHour++;
}

/** Counts an execution that is skipped. False: there are so many that this one leaves as little as it can. */
export const countSkipped = (facts: Facts, { kind }: Candidate): boolean =>
  !isRated(kind) || facts.skipped++ < FLOOD;

/** A clock or a person starts the others, at a bounded rate. */
const isRated = (kind: ExecutionRow['kind']): boolean => kind === 'event' || kind === 'webhook';

export const isTooDeep = (depth: number): boolean => depth > DEEPEST;
