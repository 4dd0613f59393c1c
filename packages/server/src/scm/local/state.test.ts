import { expect, test } from 'vitest';
import { localPullAfter } from './state.ts';

test('every transition of a local pull request', () => {
  const states = ['open', 'closed', 'merged'] as const;
  const triggers = ['close', 'reopen', 'merge'] as const;
  expect(
    states.flatMap((state) => triggers.map((trigger) => [state, trigger, localPullAfter(state, trigger)])),
  ).toEqual([
    ['open', 'close', 'closed'],
    ['open', 'reopen', null],
    ['open', 'merge', 'merged'],
    ['closed', 'close', null],
    ['closed', 'reopen', 'open'],
    ['closed', 'merge', null],
    ['merged', 'close', null],
    ['merged', 'reopen', null],
    ['merged', 'merge', null],
  ]);
});
