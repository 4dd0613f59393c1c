import { expect, test } from 'vitest';
import type { ModelCallRow } from '../db/schema.ts';
import { callChange } from './state.ts';

/** What each status becomes when the call is settled; undefined: it stays. */
const SETTLED: Record<ModelCallRow['status'], ModelCallRow['status'] | undefined> = {
  open: 'settled',
  settled: undefined,
};

test.each(Object.entries(SETTLED))('%s, settle: %s', (status, expected) => {
  const change = callChange('settle');
  expect(change.from === status ? change.to : undefined).toBe(expected);
});
