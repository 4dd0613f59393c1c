/**
 * The status of an approval, which is resolved once:
 *
 *   pending   approve   approved
 *   pending   deny      denied
 *   pending   expire    expired    its time is over, or its run has ended
 */
import type { ApprovalRow } from '../db/schema.ts';

type ApprovalStatus = ApprovalRow['status'];
export type Resolution = 'approve' | 'deny' | 'expire';

const TRANSITIONS = {
  approve: { from: 'pending', to: 'approved' },
  deny: { from: 'pending', to: 'denied' },
  expire: { from: 'pending', to: 'expired' },
} as const satisfies Record<Resolution, { from: ApprovalStatus; to: ApprovalStatus }>;

/** Which status a resolution needs, and which one it leaves. */
export const approvalChange = (resolution: Resolution): { from: ApprovalStatus; to: ApprovalStatus } =>
  TRANSITIONS[resolution];
