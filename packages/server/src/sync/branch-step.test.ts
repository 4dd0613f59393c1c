import { describe, expect, test } from 'vitest';
import { branchStep } from './branch-step.ts';
import type { BranchFacts, BranchStep } from './branch-step.ts';

const TIPS = ['gone', 'same', 'arrived', 'ahead', 'rewritten'] as const;
const PUSHES = ['current', 'pending', 'diverged', 'failed'] as const;
const THREADS = [
  { isIdle: true, hasUnpushed: false },
  { isIdle: true, hasUnpushed: true },
  { isIdle: false, hasUnpushed: false },
  { isIdle: false, hasUnpushed: true },
];

/** For each push status the steps of an idle thread without and with unpushed changes, then of a busy one. */
type Steps = Record<(typeof PUSHES)[number], BranchStep[]>;
const walk = (fixed: Pick<BranchFacts, 'tip' | 'take'>): Steps =>
  Object.fromEntries(
    PUSHES.map((push) => [push, THREADS.map((thread) => branchStep({ ...fixed, push, ...thread }))]),
  ) as Steps;
const always = (step: BranchStep): BranchStep[] => [step, step, step, step];

describe('without a decision of a caller', () => {
  const EXPECTED: Record<(typeof TIPS)[number], Steps> = {
    gone: {
      current: always('rest'),
      pending: always('fail'),
      diverged: always('rest'),
      failed: always('rest'),
    },
    same: {
      current: always('rest'),
      pending: ['settle', 'push', 'settle', 'push'],
      diverged: always('rest'),
      failed: always('rest'),
    },
    arrived: {
      current: always('record'),
      pending: always('record'),
      diverged: always('rest'),
      failed: always('record'),
    },
    ahead: {
      current: ['takeOver', 'merge', 'wait', 'wait'],
      pending: ['takeOver', 'merge', 'wait', 'wait'],
      diverged: always('rest'),
      failed: always('rest'),
    },
    rewritten: {
      current: always('diverge'),
      pending: always('diverge'),
      diverged: always('rest'),
      failed: always('diverge'),
    },
  };

  test.each(TIPS)('a branch that is %s', (tip) => {
    expect(walk({ tip, take: null })).toEqual(EXPECTED[tip]);
  });
});

describe("with a caller's decision", () => {
  test.each([
    ['branch', 'takeBranch'],
    ['thread', 'takeThread'],
  ] as const)('%s: it is carried out once the thread is idle, wherever the branch is', (take, step) => {
    for (const tip of TIPS.filter((one) => one !== 'gone'))
      for (const steps of Object.values(walk({ tip, take })))
        expect(steps, tip).toEqual([step, step, 'wait', 'wait']);
    expect(walk({ tip: 'gone', take }).pending).toEqual(always('fail'));
  });
});
