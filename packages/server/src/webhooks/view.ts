import type { WebhookDeliveryRow, WebhookSubscriptionRow } from '../db/schema.ts';

export const subscriptionView = (s: WebhookSubscriptionRow) => ({
  id: s.id,
  orgId: s.org_id,
  projectId: s.project_id,
  url: s.url,
  types: s.types,
  disabled: s.disabled_reason !== null,
  disabledReason: s.disabled_reason,
  failingSince: s.failing_since?.toISOString() ?? null,
  createdAt: s.created_at.toISOString(),
  updatedAt: s.updated_at.toISOString(),
});

export const deliveryView = (d: WebhookDeliveryRow) => ({
  id: d.id,
  subscriptionId: d.subscription_id,
  eventId: d.event_id,
  eventType: d.event_type,
  projectId: d.project_id,
  status: d.status,
  attemptCount: d.attempt_count,
  attempts: d.attempts,
  nextAttemptAt: d.next_attempt_at?.toISOString() ?? null,
  errorCode: d.error_code,
  redeliveryOf: d.redelivery_of,
  createdAt: d.created_at.toISOString(),
  finishedAt: d.finished_at?.toISOString() ?? null,
});
