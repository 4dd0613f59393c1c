import { describe, expect, test } from 'vitest';
import { approvalChange } from './state.ts';
import type { ApprovalRow } from '../db/schema.ts';
import type { Resolution } from './state.ts';

type ApprovalStatus = ApprovalRow['status'];

/** What each resolution leaves; undefined: nothing changes. */
const TABLE: Record<ApprovalStatus, Record<Resolution, ApprovalStatus | undefined>> = {
  pending: { approve: 'approved', deny: 'denied', expire: 'expired' },
  approved: { approve: undefined, deny: undefined, expire: undefined },
  denied: { approve: undefined, deny: undefined, expire: undefined },
  expired: { approve: undefined, deny: undefined, expire: undefined },
};

describe('approvalChange', () => {
  test.each(
    Object.entries(TABLE).flatMap(([status, row]) =>
      Object.entries(row).map(
        ([resolution, after]) => [status as ApprovalStatus, resolution as Resolution, after] as const,
      ),
    ),
  )('%s, %s: %s', (status, resolution, expected) => {
    const change = approvalChange(resolution);
    expect(change.from === status ? change.to : undefined).toBe(expected);
  });
});
