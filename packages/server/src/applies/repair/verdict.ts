/**
 * Judges an apply by the end of its last repair:
 *
 *   cancelled by a stop ---------------------------> conflicted `cancelled`
 *   out of money, or without its agent ------------> conflicted `spend_limit_reached`, `not_configured`
 *   reported unresolved ---------------------------> conflicted `unresolved`
 *   a candidate -----------------------------------> merged with the head of now
 *   no candidate, its files (or none at all) alike for the third time > conflicted `identical_candidates`
 *   no candidate, the time used up ----------------> conflicted `budget`
 *   no candidate, the attempts used up ------------> conflicted `unresolved`
 *   no candidate ----------------------------------> merged again; with conflicts, another repair
 */
import type { Repair, RunRow } from '../../db/schema.ts';

const IDENTICAL = 3;
/** Bounds attempts that differ and fail at once, which would use the whole time. */
const MAX_REPAIRS = 50;

type EndedRun = Pick<RunRow, 'status' | 'error_code' | 'error_message' | 'cancel_requested_at'>;

export interface Verdict {
  /** The repairs, where the last one has the error of its run if it reported none itself. */
  repairs: Repair[];
  /** The apply's error when this ends it. */
  error: string | null;
  /** Why no further repair may be started. */
  exhausted: string | null;
}

/** `isOver`: the time for repairs is used up. */
export function repairVerdict(earlier: Repair[], run: EndedRun, { isOver }: { isOver: boolean }): Verdict {
  const repairs = [...earlier.slice(0, -1), withError(earlier.at(-1)!, run, { isOver })];
  const last = repairs.at(-1)!;
  const exhausted = isOver
    ? 'budget: The time for repairs is used up.'
    : repairs.length >= MAX_REPAIRS
      ? `unresolved: ${MAX_REPAIRS} repairs gave no result.`
      : null;
  const isFinal =
    run.status === 'cancelled' ||
    run.error_code === 'spend_limit_reached' ||
    run.error_code === 'not_configured';
  if (isFinal) return { repairs, exhausted, error: last.error };
  if (last.error === null)
    return {
      repairs,
      exhausted,
      error: last.report?.status === 'unresolved' ? `unresolved: ${last.report.summary}` : null,
    };
  const alike = repairs.filter(
    (repair) => repair.error !== null && repair.candidateFingerprint === last.candidateFingerprint,
  );
  const left =
    last.candidateFingerprint === undefined
      ? 'no files that could be read.'
      : 'the same files, which cannot be applied.';
  return {
    repairs,
    exhausted,
    error:
      alike.length >= IDENTICAL
        ? `identical_candidates: ${IDENTICAL} repairs left ${left} ${last.error}`
        : exhausted,
  };
}

function withError(repair: Repair, run: EndedRun, { isOver }: { isOver: boolean }): Repair {
  if (repair.error !== null || run.status === 'completed') return repair;
  if (run.status === 'failed') return { ...repair, error: `${run.error_code}: ${run.error_message}` };
  return {
    ...repair,
    error:
      isOver && run.cancel_requested_at === null
        ? 'budget: The time for repairs is used up.'
        : 'cancelled: The repair was stopped.',
  };
}
