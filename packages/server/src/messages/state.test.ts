import { describe, expect, test } from 'vitest';
import { deliveryChange } from './state.ts';
import type { MessageRow } from '../db/schema.ts';

type Delivery = MessageRow['steering'];
type DeliveryEvent = Parameters<typeof deliveryChange>[0];

const DELIVERIES: Delivery[] = [null, 'sent', 'taken'];
/** What each event leaves of `null`, `sent` and `taken`; undefined: nothing changes. */
const TABLE: Record<DeliveryEvent, (Delivery | undefined)[]> = {
  join: ['sent', undefined, undefined],
  take: [undefined, 'taken', undefined],
  return: [undefined, null, undefined],
};

describe('deliveryChange', () => {
  test.each(
    Object.entries(TABLE).flatMap(([event, after]) =>
      DELIVERIES.map((from, at) => [from, event as DeliveryEvent, after[at]] as const),
    ),
  )('%s, %s: %s', (from, event, expected) => {
    const change = deliveryChange(event);
    expect(change.from === from ? change.to : undefined).toBe(expected);
  });
});
