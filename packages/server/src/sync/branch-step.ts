/**
 * What is next for a pull request, its thread and its branch. The first line that holds decides. Only an open
 * pull request of an open thread that still has it is asked about; of any other only the provider is read.
 *
 *   tip         push         thread                         step
 *   gone        pending                                     fail        there is nothing to push to
 *   gone        else                                        rest
 *   any         (a caller has decided) not idle             wait
 *   any         (a caller has decided) branch, thread       takeBranch, takeThread
 *   any         diverged                                    rest        until a caller decides
 *   arrived     any                                         record      our push, whose end was not written down
 *   rewritten   any                                         diverge     never pushed over
 *   ahead       failed                                      rest        until a newer source, or a caller asks
 *   ahead       else         not idle                       wait        its end asks again
 *   ahead       else         idle, nothing unpushed         takeOver
 *   ahead       else         idle, unpushed changes         merge
 *   same        pending      unpushed changes               push
 *   same        pending                                     settle      the branch holds what the thread has
 *   same        else                                        rest
 */
import type { PullRequestRow } from '../db/schema.ts';

export interface BranchFacts {
  /**
   * Where the branch is. `same`: at the commit where it was seen last. `arrived`: at the commit of a push of
   * ours, or beyond it. `ahead`: others have committed upon the former, or nothing of it was taken over yet.
   */
  tip: 'gone' | 'same' | 'arrived' | 'ahead' | 'rewritten';
  push: PullRequestRow['push_status'];
  /** Whose files count, where a caller has decided. */
  take: PullRequestRow['push_take'];
  isIdle: boolean;
  /** The thread has what the commit seen last does not hold. */
  hasUnpushed: boolean;
}

export type BranchStep =
  | 'rest'
  | 'wait'
  | 'record'
  | 'push'
  | 'settle'
  | 'fail'
  | 'diverge'
  | 'takeOver'
  | 'merge'
  | 'takeBranch'
  | 'takeThread';

export function branchStep({ tip, push, take, isIdle, hasUnpushed }: BranchFacts): BranchStep {
  if (tip === 'gone') return push === 'pending' ? 'fail' : 'rest';
  if (take !== null) return isIdle ? (take === 'branch' ? 'takeBranch' : 'takeThread') : 'wait';
  if (push === 'diverged') return 'rest';
  if (tip === 'arrived') return 'record';
  if (tip === 'rewritten') return 'diverge';
  if (tip === 'ahead') {
    if (push === 'failed') return 'rest';
    if (!isIdle) return 'wait';
    return hasUnpushed ? 'merge' : 'takeOver';
  }
  if (push !== 'pending') return 'rest';
  return hasUnpushed ? 'push' : 'settle';
}
