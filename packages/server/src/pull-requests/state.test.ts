import { expect, test } from 'vitest';
import { pushAfter, stateAfter } from './state.ts';

const STATES = ['open', 'closed', 'merged'] as const;
const PUSHES = ['current', 'pending', 'diverged', 'failed'] as const;

test('a merged pull request stays merged; an open one is closed, and a closed one opened again', () => {
  const walk = (event: Parameters<typeof stateAfter>[1]) => STATES.map((state) => stateAfter(state, event));
  expect({ close: walk('close'), reopen: walk('reopen'), merge: walk('merge') }).toEqual({
    close: ['closed', 'closed', 'merged'],
    reopen: ['open', 'open', 'merged'],
    merge: ['merged', 'merged', 'merged'],
  });
});

test('only what is pending is pushed or refused, and only a decision ends a divergence', () => {
  const walk = (event: Parameters<typeof pushAfter>[1]) => PUSHES.map((status) => pushAfter(status, event));
  expect({
    queue: walk('queue'),
    finish: walk('finish'),
    refuse: walk('refuse'),
    leave: walk('leave'),
    diverge: walk('diverge'),
    take: walk('take'),
  }).toEqual({
    queue: ['pending', 'pending', 'diverged', 'pending'],
    finish: ['current', 'current', 'diverged', 'failed'],
    refuse: ['current', 'failed', 'diverged', 'failed'],
    leave: ['current', 'current', 'diverged', 'failed'],
    diverge: ['diverged', 'diverged', 'diverged', 'diverged'],
    take: ['current', 'pending', 'pending', 'failed'],
  });
});
