/** Stores the consequences of a failed attempt for its delivery and its subscription, in one transaction. */
import { audit, serviceOf } from '../audit/index.ts';
import type { Context } from '../context.ts';
import type { DeliveryAttempt, WebhookSubscriptionRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { lockSubscription, saveHealth, settleFailed } from './delivery-store.ts';
import type { Attempted } from './delivery-store.ts';
import { retryAfterMs } from './retry.ts';
import { eventOf } from './state.ts';
import type { DeliveryEvent } from './state.ts';
import { touched } from './store.ts';

/** This many attempts must fail as well; further ones are not counted. */
export const LEAST_FAILED = 10;

type Deps = Pick<Context, 'db' | 'bus' | 'clock' | 'config' | 'log'>;
type Health = Pick<WebhookSubscriptionRow, 'disabled_reason' | 'failing_since' | 'failed_attempts'>;

interface Failed {
  delivery: Attempted;
  attempt: DeliveryAttempt;
  retryAfter: string | null;
}

/**
 * Schedules the next attempt, or ends the delivery. Disables the subscription if the receiver is gone, or if every
 * attempt has failed for long. Returns the milliseconds until the next attempt; null: none follows.
 */
export async function settleFailure(
  ctx: Deps,
  { delivery, attempt, retryAfter }: Failed,
): Promise<number | null> {
  const { retrySeconds, disableAfterSeconds } = ctx.config.webhooks;
  const nextMs = retryAfterMs(delivery.attempt_count + 1, { schedule: retrySeconds, retryAfter });
  const event = eventOf(attempt, nextMs === null);
  return transaction(ctx, async (tx) => {
    const subscription = await lockSubscription(tx, delivery.subscription_id);
    const isSettled = await settleFailed(tx, ctx, { delivery, attempt, event, nextMs });
    if (!isSettled || !subscription) return null;
    const now = new Date(subscription.now.getTime() + ctx.clock.offsetMs);
    const health = healthAfter(subscription, event, { now, disableAfterSeconds });
    const isDisabled = health !== null && health.disabled_reason !== subscription.disabled_reason;
    if (health)
      await saveHealth(tx, delivery.subscription_id, {
        ...health,
        ...(isDisabled && { updated_at: touched }),
      });
    if (isDisabled) {
      const { org_id: orgId } = subscription;
      await audit(tx, serviceOf(orgId), 'webhook.disabled', delivery.subscription_id);
      const what = { orgId, webhook: delivery.subscription_id, reason: health.disabled_reason };
      tx.afterCommit.push(() => ctx.log.info(what, 'a webhook was disabled'));
    }
    return event === 'retry' ? nextMs : null;
  });
}

/**
 * The columns of a subscription after a failed attempt; null: unchanged. Failures do not disable a paused
 * subscription: new events would then add no deliveries.
 */
export function healthAfter(
  was: Health,
  event: DeliveryEvent,
  { now, disableAfterSeconds }: { now: Date; disableAfterSeconds: number },
): Health | null {
  const failingSince = was.failing_since ?? now;
  const failed = Math.min(was.failed_attempts + 1, LEAST_FAILED);
  const isLong = now.getTime() - failingSince.getTime() >= disableAfterSeconds * 1_000;
  const reason =
    event === 'leave'
      ? 'gone'
      : (was.disabled_reason ?? (failed === LEAST_FAILED && isLong ? 'failures' : null));
  const isSame =
    reason === was.disabled_reason && failed === was.failed_attempts && was.failing_since !== null;
  return isSame ? null : { disabled_reason: reason, failing_since: failingSince, failed_attempts: failed };
}
