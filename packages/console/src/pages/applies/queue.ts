/** Places in the queue of an app. */
import type { Apply } from '@headrace/client';

type Queued = Pick<Apply, 'status' | 'sequence'> & { repairs: readonly unknown[] };

/** How many applies are merged before this one. An apply under repair has given its turn away. */
export const aheadOf = ({ sequence }: Pick<Apply, 'sequence'>, queue: readonly Queued[]): number =>
  queue.filter((one) => one.status === 'queued' && one.sequence < sequence && one.repairs.length === 0)
    .length;

/** The word of a queued apply: what happens to it now. `ahead` is null until the queue is read. */
export function stageOf(apply: Queued, ahead: number | null): string {
  if (apply.status !== 'queued') return apply.status;
  if (apply.repairs.length > 0) return 'repairing';
  return ahead === 0 ? 'merging' : 'queued';
}
