import { expect, test } from 'vitest';
import { isEnded, statusesBefore } from './state.ts';
import type { ExecStatus } from './state.ts';

/** The table of state.ts, line by line. */
const TABLE: [ExecStatus, ExecStatus][] = [
  ['queued', 'running'],
  ['queued', 'failed'],
  ['running', 'completed'],
  ['running', 'failed'],
];
const ALL: ExecStatus[] = ['queued', 'running', 'completed', 'failed'];

test.each(['running', 'completed', 'failed'] as const)('%s is reached from nowhere else', (to) => {
  expect(ALL.filter((from) => statusesBefore(to).includes(from))).toEqual(
    TABLE.filter(([, next]) => next === to).map(([from]) => from),
  );
});

test('a command has ended where nothing leads on', () => {
  expect(ALL.filter(isEnded)).toEqual(ALL.filter((status) => TABLE.every(([from]) => from !== status)));
});
