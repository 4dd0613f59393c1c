import { describe, expect, test } from 'vitest';
import { workspaceChange } from './state.ts';
import type { WorkspaceEvent, WorkspaceStatus } from './state.ts';

const STATUSES: WorkspaceStatus[] = [
  null,
  'preparing',
  'ready',
  'archived',
  'cleanup_pending',
  'cancelled',
  'error',
];

/** The table of state.ts, line by line. */
const TABLE: [WorkspaceEvent, (status: WorkspaceStatus) => boolean, WorkspaceStatus, string?][] = [
  ['prepare', (status) => status !== 'preparing', 'preparing', 'pending'],
  ['restore', (status) => status === 'preparing', 'ready', 'ready'],
  ['fail', () => true, 'error', 'failed'],
  ['cancel', (status) => status === 'preparing', 'cancelled'],
  ['archive', (status) => status === 'ready' || status === 'cleanup_pending', 'archived'],
  ['detach', (status) => status === 'ready', 'cleanup_pending'],
  ['vanish', (status) => status === 'ready', 'error'],
];

describe('workspaceChange', () => {
  test.each(TABLE)('%s', (event, isTaken, to, setup) => {
    const change = workspaceChange(event);
    expect(STATUSES.filter((status) => change.from.includes(status))).toEqual(STATUSES.filter(isTaken));
    expect([change.to, change.setup]).toEqual([to, setup]);
  });
});
