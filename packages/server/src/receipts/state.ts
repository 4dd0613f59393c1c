/**
 * The status of a receipt. One of a write in a single transaction is `succeeded` or `failed` from the start.
 *
 *   pending, uncertain   succeed   succeeded   the work settles it, or a look finds it done
 *   pending, uncertain   fail      failed      refused; found not to be done; still unknown after seven days
 *   pending              refuse    failed      its own work ends with a refusal
 *   pending              lose      uncertain   it is not known what became of its effect outside
 */
import type { OperationRow } from '../db/schema.ts';

export type ReceiptStatus = OperationRow['status'];
export type ReceiptEvent = 'succeed' | 'fail' | 'refuse' | 'lose';

/** Receipts without an answer. */
export const OPEN = ['pending', 'uncertain'] as const satisfies ReceiptStatus[];

const TRANSITIONS = {
  succeed: { from: OPEN, to: 'succeeded' },
  fail: { from: OPEN, to: 'failed' },
  refuse: { from: ['pending'], to: 'failed' },
  lose: { from: ['pending'], to: 'uncertain' },
} as const satisfies Record<ReceiptEvent, { from: readonly ReceiptStatus[]; to: ReceiptStatus }>;

/** Which statuses an event needs, and which one it leaves. */
export const receiptChange = (event: ReceiptEvent): { from: readonly ReceiptStatus[]; to: ReceiptStatus } =>
  TRANSITIONS[event];

export const isOpen = (status: ReceiptStatus): boolean => (OPEN as readonly ReceiptStatus[]).includes(status);
