/** Standard Webhooks (https://www.standardwebhooks.com): id, time and body, signed by each valid secret. */
import { createHmac } from 'node:crypto';
import { signingKey } from '../signing-secrets.ts';

export interface Signed {
  id: string;
  body: Buffer;
  /** The time of the attempt, not of the event. */
  at: Date;
}

/** The headers of a request. `secrets`: the newest first. */
export function signedHeaders({ id, body, at }: Signed, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map(
    (secret) =>
      `v1,${createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
