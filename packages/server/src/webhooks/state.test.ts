import { expect, test } from 'vitest';
import { deliveryChange, eventOf } from './state.ts';
import type { DeliveryEvent } from './state.ts';

/** The table of state.ts. Deliveries that have ended do not change. */
const TABLE: Record<DeliveryEvent, [string, string, string | null]> = {
  accept: ['pending', 'succeeded', null],
  retry: ['pending', 'pending', null],
  exhaust: ['pending', 'failed', 'exhausted'],
  leave: ['pending', 'failed', 'gone'],
  withhold: ['pending', 'failed', 'platform_app_event'],
  expire: ['pending', 'failed', 'expired'],
  drop: ['pending', 'failed', 'overflow'],
};

test.each(Object.entries(TABLE))('%s', (event, row) => {
  const { from, to, errorCode } = deliveryChange(event as DeliveryEvent);
  expect([from, to, errorCode]).toEqual(row);
});

test('an attempt causes an event of its delivery', () => {
  const failed = (statusCode: number | null, error: 'status' | 'timeout' | 'redirect') => ({
    statusCode,
    error,
  });
  expect(
    [true, false].flatMap((isLast) => [
      eventOf({ statusCode: 204, error: null }, isLast),
      eventOf(failed(410, 'status'), isLast),
      eventOf(failed(500, 'status'), isLast),
      eventOf(failed(302, 'redirect'), isLast),
      eventOf(failed(null, 'timeout'), isLast),
    ]),
  ).toEqual(
    ['accept leave exhaust exhaust exhaust', 'accept leave retry retry retry'].flatMap((all) =>
      all.split(' '),
    ),
  );
});
