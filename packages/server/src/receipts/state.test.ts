import { expect, test } from 'vitest';
import { isOpen, receiptChange } from './state.ts';
import type { ReceiptEvent, ReceiptStatus } from './state.ts';

const ALL: ReceiptStatus[] = ['pending', 'succeeded', 'failed', 'uncertain'];
const EVENTS: ReceiptEvent[] = ['succeed', 'fail', 'refuse', 'lose'];

/** The table of state.ts: what each event makes of each status, and of the others nothing. */
const TABLE: Partial<Record<`${ReceiptStatus} ${ReceiptEvent}`, ReceiptStatus>> = {
  'pending succeed': 'succeeded',
  'pending fail': 'failed',
  'pending refuse': 'failed',
  'pending lose': 'uncertain',
  'uncertain succeed': 'succeeded',
  'uncertain fail': 'failed',
};

test.each(ALL.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
  '%s, %s',
  (status, event) => {
    const { from, to } = receiptChange(event);
    expect(from.includes(status) ? to : undefined).toBe(TABLE[`${status} ${event}`]);
  },
);

test('a receipt is open where something leads on', () => {
  expect(ALL.filter(isOpen)).toEqual(
    ALL.filter((status) => EVENTS.some((event) => receiptChange(event).from.includes(status))),
  );
});
