import { describe, expect, test } from 'vitest';
import type { ThreadRow } from '../db/schema.ts';
import { initializationAfter, threadStatus } from './state.ts';
import type { InitializationEvent } from './state.ts';

type InitializationState = ThreadRow['initialization_state'];

const AT = new Date();
const STATES: InitializationState[] = ['accepted', 'preparing', 'completed', 'failed', 'cancelled'];

/** Every combination of the facts that decide the status: 2 · 5 · 3 · 2 · 2 · 2 · 2. */
const ALL = [null, AT].flatMap((archived_at) =>
  STATES.flatMap((initialization_state) =>
    [null, 'running', 'waiting'].flatMap((active) =>
      [null, 'apl_x'].flatMap((active_apply_id) =>
        [null, 'bld_x'].flatMap((active_build_id) =>
          [0, 2].flatMap((queuedRuns) =>
            [false, true].map((last_run_failed) => ({
              thread: {
                archived_at,
                initialization_state,
                active_apply_id,
                active_build_id,
                last_run_failed,
              },
              work: { active: active as 'running' | 'waiting' | null, queuedRuns },
            })),
          ),
        ),
      ),
    ),
  ),
);
type Facts = (typeof ALL)[number];

/** The first table of state.ts, line by line. */
const TABLE: [ThreadRow['status'], (f: Facts) => boolean][] = [
  ['archived', ({ thread }) => thread.archived_at !== null],
  ['failed', ({ thread }) => thread.initialization_state === 'failed'],
  ['waiting', ({ work }) => work.active === 'waiting'],
  ['running', ({ work }) => work.active === 'running'],
  ['blocked', ({ thread }) => thread.active_apply_id !== null || thread.active_build_id !== null],
  [
    'queued',
    ({ thread, work }) =>
      ['accepted', 'preparing'].includes(thread.initialization_state) || work.queuedRuns > 0,
  ],
  ['failed', ({ thread }) => thread.last_run_failed],
  ['ready', () => true],
];

describe('threadStatus', () => {
  test('the first line that holds decides, in every combination', () => {
    expect(ALL.length).toBe(480);
    for (const facts of ALL)
      expect([facts, threadStatus(facts.thread, facts.work)]).toEqual([
        facts,
        TABLE.find(([, holds]) => holds(facts))![0],
      ]);
  });

  test.each(TABLE)('%s is reached by its line (%#)', (status, holds) => {
    const reached = ALL.filter((f) => holds(f) && threadStatus(f.thread, f.work) === status);
    expect(reached.length).toBeGreaterThan(0);
  });
});

describe('initializationAfter', () => {
  /** The second table of state.ts, line by line. */
  const LINES: [InitializationState[], InitializationEvent, InitializationState][] = [
    [['accepted', 'preparing'], 'begin', 'preparing'],
    [['preparing'], 'complete', 'completed'],
    [['accepted', 'preparing'], 'fail', 'failed'],
    [['accepted', 'preparing'], 'cancel', 'cancelled'],
    [['failed', 'cancelled'], 'retry', 'accepted'],
    [['failed'], 'unarchive', 'cancelled'],
  ];

  test.each(LINES)('%j takes %s', (from, event, to) => {
    for (const state of STATES)
      expect([state, initializationAfter(state, event)]).toEqual([state, from.includes(state) ? to : null]);
  });
});
