import { expect, test } from 'vitest';
import { newLink, stateOf, stateOfAll } from './state.ts';
import type { Link, LiveState } from './state.ts';

const NOW = 100_000;
const before = { heardAt: NOW - 2_000 };
const open = { phase: 'open', heardAt: NOW } as const;
const lost = { phase: 'waiting', reason: 'No answer.', lostAt: NOW - 2_900, ...before } as const;

test.each<[LiveState, string, Partial<Link>]>([
  ['connecting', 'the first connection', {}],
  ['connecting', 'the first connection is slow', { lostAt: 0 }],
  ['connecting', 'it failed just now', { phase: 'waiting', reason: 'No answer.', lostAt: NOW - 2_900 }],
  ['offline', 'it has failed for long', { phase: 'waiting', reason: 'No answer.', lostAt: NOW - 3_100 }],
  ['connecting', 'it is limited', { phase: 'waiting', reason: 'Later.', lostAt: 0, isLimited: true }],
  ['live', 'connected', open],
  ['behind', 'connected, silent', { phase: 'open', heardAt: NOW - 20_001 }],
  ['behind', 'connected, catching up', { ...open, isCatchingUp: true }],
  ['expired', 'connected, reading all again', { ...open, isRecovering: true }],
  ['expired', 'connecting, reading all again', { isRecovering: true }],
  ['behind', 'lost just now', lost],
  ['behind', 'lost, connecting again', { ...lost, phase: 'connecting', reason: null }],
  ['offline', 'lost for long', { ...lost, lostAt: NOW - 3_100 }],
  ['offline', 'lost for long, connecting again', { ...lost, phase: 'connecting', lostAt: NOW - 3_100 }],
  ['offline', 'lost for long, reading all again', { ...lost, lostAt: NOW - 3_100, isRecovering: true }],
  ['behind', 'lost for long, limited', { ...lost, lostAt: 0, isLimited: true }],
  ['offline', 'the browser is offline', { ...open, isOnline: false }],
  ['offline', 'offline before the first connection', { isOnline: false }],
])('%s: %s', (expected, _name, facts) => {
  expect(stateOf({ ...newLink(NOW, 20_000), ...facts }, NOW)).toBe(expected);
});

test.each<[LiveState, string, Partial<Link>[]]>([
  ['live', 'both connected', [open, open]],
  ['connecting', 'one is not connected yet', [open, {}]],
  ['behind', 'one catches up', [{ ...open, isCatchingUp: true }, {}]],
  ['expired', 'one reads all again', [open, { ...open, isRecovering: true }]],
  ['behind', 'one was lost long ago, the other is open', [open, { ...lost, lostAt: 0 }]],
  [
    'offline',
    'both were lost long ago',
    [
      { ...lost, lostAt: 0 },
      { ...lost, lostAt: 0 },
    ],
  ],
  [
    'offline',
    'the browser is offline',
    [
      { ...open, isOnline: false },
      { ...open, isOnline: false },
    ],
  ],
])('%s: %s', (expected, _name, all) => {
  const links = all.map((facts) => ({ ...newLink(NOW, 20_000), ...facts }));
  for (const each of [links, links.toReversed()]) expect(stateOfAll(each, NOW)).toBe(expected);
});
