import type { WebhookSubscriptionRow } from '../db/schema.ts';

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
