import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const NAMES = ['apps list', 'apps create', 'apply', 'push', 'pull', 'log', 'logs'];

test.each([
  ['psuh', 'push'],
  ['puhs', 'push'],
  ['pul', 'pull'],
  ['appls list', 'apps list'],
  ['app create', 'apps create'],
  ['aply', 'apply'],
  ['log', 'log'],
  ['lgos', 'logs'],
])('%s may mean %s', (word, name) => {
  expect(nearest(word, NAMES)).toBe(name);
});

test.each(['', 'deploy', 'zzzz', 'create'])('%j means none', (word) => {
  expect(nearest(word, NAMES)).toBeUndefined();
});

test('without names there is none', () => {
  expect(nearest('push', [])).toBeUndefined();
});
