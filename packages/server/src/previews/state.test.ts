import { expect, test } from 'vitest';
import { isOpen, OPEN, OVER, previewChange } from './state.ts';
import type { PreviewEvent, PreviewStatus } from './state.ts';

const ALL: PreviewStatus[] = ['starting', 'ready', 'failed', 'stopped'];
const EVENTS: PreviewEvent[] = ['listen', 'fail', 'move', 'stop'];

/** The table of state.ts: what each event makes of each status, and of the others nothing. */
const TABLE: Partial<Record<`${PreviewStatus} ${PreviewEvent}`, PreviewStatus>> = {
  'starting listen': 'ready',
  'starting fail': 'failed',
  'ready fail': 'failed',
  'starting move': 'starting',
  'ready move': 'starting',
  'starting stop': 'stopped',
  'ready stop': 'stopped',
  'failed stop': 'stopped',
};

test.each(ALL.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
  '%s, %s',
  (status, event) => {
    const { from, to } = previewChange(event);
    expect(from.includes(status) ? to : undefined).toBe(TABLE[`${status} ${event}`]);
  },
);

test('a preview is open while it can fail', () => {
  const open = ALL.filter((status) => previewChange('fail').from.includes(status));
  expect(ALL.filter((status) => isOpen({ status }))).toEqual(open);
  expect([[...OPEN], [...OPEN, ...OVER]]).toEqual([open, ALL]);
});
