import { expect, test } from 'vitest';
import { adviceOf } from './advice.ts';
import { countsOf } from './counts.ts';
import { aheadOf, stageOf } from './queue.ts';

const queued = (sequence: number, repairs: unknown[] = []) => ({
  status: 'queued' as const,
  sequence,
  repairs,
});

test('an apply under repair has given its turn away', () => {
  const queue = [queued(1, ['an attempt']), queued(2), queued(3)];
  expect(aheadOf(queue[2]!, queue)).toBe(1);
  expect([queue[0]!, queue[1]!, queue[2]!].map((one) => stageOf(one, aheadOf(one, queue)))).toEqual([
    'repairing',
    'merging',
    'queued',
  ]);
  expect(stageOf(queued(1), null)).toBe('queued');
});

test('each end of an apply says what to do', () => {
  const of = (status: 'applied' | 'conflicted' | 'failed', error: string | null) =>
    adviceOf({ status, error });
  expect(of('applied', null)).toBeNull();
  expect(of('conflicted', null)).toContain('by hand');
  expect(of('conflicted', 'stale_head: The head moved.')).toContain('apply again');
  expect(of('conflicted', 'cancelled: stopped')).toContain('repair was stopped');
  expect(of('failed', 'cancelled: archived')).toContain('archived or deleted');
  expect(of('failed', 'a new code: what')).toBeNull();
});

test('a path that both moved away counts for both', () => {
  expect(
    countsOf([{ path: 'h', oldPath: 'old' }, { path: 'x' }], [{ path: 'd', oldPath: 'old' }, { path: 'x' }]),
  ).toEqual({ head: 1, draft: 1, both: 2 });
});
