import { describe, expect, test } from 'vitest';
import { isActive, isEnded, movesForward, runChange } from './state.ts';
import type { RunEvent, RunStatus, ToolStatus } from './state.ts';

const EVENTS: RunEvent[] = ['start', 'ask', 'resume', 'complete', 'fail', 'cancel'];
/** What each event leaves, in their order; null: nothing changes. */
const TABLE: Record<RunStatus, (RunStatus | null)[]> = {
  queued: ['running', null, null, null, 'failed', 'cancelled'],
  running: [null, 'waiting', null, 'completed', 'failed', 'cancelled'],
  waiting: [null, null, 'running', 'completed', 'failed', 'cancelled'],
  completed: [null, null, null, null, null, null],
  failed: [null, null, null, null, null, null],
  cancelled: [null, null, null, null, null, null],
};
const STATUSES = Object.keys(TABLE) as RunStatus[];

describe('runChange', () => {
  test.each(
    STATUSES.flatMap((status) => EVENTS.map((event, at) => [status, event, TABLE[status][at]!] as const)),
  )('%s, %s: %s', (status, event, expected) => {
    const change = runChange(event);
    expect(change.from.includes(status) ? change.to : null).toBe(expected);
  });
});

test('a run is queued, active or ended', () => {
  expect(STATUSES.filter(isActive)).toEqual(['running', 'waiting']);
  expect(STATUSES.filter(isEnded)).toEqual(['completed', 'failed', 'cancelled']);
  // What has ended changes no more.
  expect(STATUSES.filter((status) => TABLE[status].every((after) => after === null))).toEqual(
    STATUSES.filter(isEnded),
  );
});

const TOOLS: Record<ToolStatus, ToolStatus[]> = {
  pending: ['running', 'completed', 'failed', 'cancelled'],
  running: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};
const TOOL_STATUSES = Object.keys(TOOLS) as ToolStatus[];

describe('movesForward', () => {
  test.each(TOOL_STATUSES.map((from) => [from, TOOLS[from]] as const))('%s: %j', (from, expected) => {
    expect(TOOL_STATUSES.filter((to) => movesForward(from, to))).toEqual(expected);
  });
});
