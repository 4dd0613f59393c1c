/** Signing secrets of subscriptions: sealed, shown once. */
import type { Context } from '../context.ts';
import type { WebhookSubscriptionRow } from '../db/schema.ts';
import type { WriteResult } from '../http/write-request.ts';
import { newSigningSecret, sealSigningSecret } from '../signing-secrets.ts';
import { scopeOf } from './policy.ts';
import { subscriptionView } from './view.ts';

export const PURPOSE = 'headrace webhooks';

/** A new secret of a subscription, and its sealed columns. */
export function makeSecret(
  { secretKey }: Pick<Context, 'secretKey'>,
  subscription: Pick<WebhookSubscriptionRow, 'org_id' | 'id'>,
): { secret: string; sealed: Buffer } {
  const secret = newSigningSecret();
  return { secret, sealed: sealSigningSecret(secretKey, PURPOSE, subscription, secret) };
}

/** The response with the secret; replays omit it. */
export function withSecret(status: 200 | 201, row: WebhookSubscriptionRow, secret: string): WriteResult {
  const shown = { ok: true, subscription: subscriptionView(row) };
  return {
    status,
    scope: scopeOf(row),
    body: { ...shown, secret, secretUnavailable: false },
    replay: { ...shown, secretUnavailable: true },
  };
}
