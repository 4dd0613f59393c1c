/**
 * The status of a delivery.
 *
 *   pending   accept     succeeded                       the receiver responded with 2xx
 *   pending   retry      pending                         anything else, and attempts are left
 *   pending   exhaust    failed     exhausted            the last attempt failed
 *   pending   leave      failed     gone                 the receiver responded with 410; the subscription is disabled
 *   pending   withhold   failed     platform_app_event   its project is a Platform app: no attempt
 *   pending   expire     failed     expired              it is older than seven days
 *   pending   drop       failed     overflow             more are pending than a subscription may have: the oldest
 */
import type { DeliveryAttempt, WebhookDeliveryRow } from '../db/schema.ts';

export type DeliveryStatus = WebhookDeliveryRow['status'];
export type DeliveryEvent = 'accept' | 'retry' | 'exhaust' | 'leave' | 'withhold' | 'expire' | 'drop';

interface Change {
  from: DeliveryStatus;
  to: DeliveryStatus;
  errorCode: WebhookDeliveryRow['error_code'];
}

const TRANSITIONS = {
  accept: { from: 'pending', to: 'succeeded', errorCode: null },
  retry: { from: 'pending', to: 'pending', errorCode: null },
  exhaust: { from: 'pending', to: 'failed', errorCode: 'exhausted' },
  leave: { from: 'pending', to: 'failed', errorCode: 'gone' },
  withhold: { from: 'pending', to: 'failed', errorCode: 'platform_app_event' },
  expire: { from: 'pending', to: 'failed', errorCode: 'expired' },
  drop: { from: 'pending', to: 'failed', errorCode: 'overflow' },
} as const satisfies Record<DeliveryEvent, Change>;

/** Which status an event requires, and which one results. */
export const deliveryChange = (event: DeliveryEvent): Change => TRANSITIONS[event];

/** The event that an attempt causes for its delivery; `isLast`: the schedule has no further attempt. */
export function eventOf(
  { statusCode, error }: Pick<DeliveryAttempt, 'statusCode' | 'error'>,
  isLast: boolean,
): DeliveryEvent {
  if (error === null) return 'accept';
  if (statusCode === 410) return 'leave';
  return isLast ? 'exhaust' : 'retry';
}
