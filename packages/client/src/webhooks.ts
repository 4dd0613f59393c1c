/** `@headrace/client/webhooks`: verifies deliveries by Standard Webhooks, in every runtime with WebCrypto. */

import type { DirectEvent } from './generated/types.ts';

/** An event as it is delivered. A ping is not in the log: it has no `sequence` and no `cursor`. */
export type WebhookEvent = DirectEvent | Ping;
type Ping = Omit<DirectEvent, 'type' | 'sequence' | 'cursor'> & {
  type: 'webhook.ping';
  sequence: null;
  cursor: null;
};

export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the timestamp of a delivery may be from now, in either direction. Default 300. */
  toleranceSeconds?: number;
  /** Default: the system clock. */
  now?: Date;
}

/**
 * `missing_header`: not a delivery. `invalid_timestamp`, `too_old`, `too_new`: `webhook-timestamp` is not a number,
 * or too far from now. `invalid_signature`: no signature matches any secret. `invalid_payload`: signed, but not an
 * event.
 */
export type WebhookFault =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'too_old'
  | 'too_new'
  | 'invalid_signature'
  | 'invalid_payload';

/** The request is not a delivery from Headrace: answer 400 or 401, and discard it. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

const TOLERANCE_SECONDS = 300;
const SIGNATURE_BYTES = 32;
/** More than a rotation needs: each signature costs a hash of the body, and anyone can send signatures. */
const MOST_SIGNATURES = 10;

/**
 * Returns the event of a delivery. `secrets`: several during a rotation. `rawBody`: as received, since parsing and
 * serializing it changes the signed bytes. Throws WebhookError; TypeError for invalid options or secrets.
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  rawBody: string | Uint8Array | ArrayBuffer,
  { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  if (!(toleranceSeconds >= 0) || Number.isNaN(now.getTime()))
    throw new TypeError(
      'toleranceSeconds must be a number from 0, and now a date: else nothing would be too old.',
    );
  const keys = await Promise.all([secrets].flat().map(keyOf));
  const body = bytesOf(rawBody);
  const delivery = headersOf(headers);
  verifyTime(delivery.timestamp, now, toleranceSeconds);
  const signed = joined(ENCODER.encode(`${delivery.id}.${delivery.timestamp}.`), body);
  if (!(await isSigned(keys, delivery.signatures, signed)))
    throw new WebhookError('invalid_signature', 'No signature of the webhook matches a given secret.');
  return eventOf(body);
}

const ENCODER = new TextEncoder();

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? base64(secret.replace(/^whsec_/, '')) : null;
  if (bytes === null || bytes.length === 0)
    throw new TypeError('The secret of a webhook is whsec_ and base64, as returned when it was created.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function base64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function bytesOf(rawBody: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof rawBody === 'string') return ENCODER.encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  throw new TypeError('verifyWebhook takes the raw body: a string or bytes, not what was parsed from it.');
}

function headersOf(headers: WebhookHeaders): { id: string; timestamp: string; signatures: string[] } {
  const byName = new Map<string, string>();
  const pairs = Symbol.iterator in headers ? headers : Object.entries(headers);
  for (const [name, value] of pairs) byName.set(name.toLowerCase(), [value ?? ''].flat().join(' '));
  const required = (name: string): string => {
    const value = byName.get(name);
    if (!value) throw new WebhookError('missing_header', `The request has no header ${name}.`);
    return value;
  };
  return {
    id: required('webhook-id'),
    timestamp: required('webhook-timestamp'),
    signatures: required('webhook-signature').split(' '),
  };
}

function verifyTime(timestamp: string, now: Date, toleranceSeconds: number): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('invalid_timestamp', 'The header webhook-timestamp is not a number of seconds.');
  const age = Math.floor(now.getTime() / 1000) - Number(timestamp);
  if (age > toleranceSeconds)
    throw new WebhookError('too_old', `The webhook was sent ${age} s ago: it may be a replay.`);
  if (age < -toleranceSeconds)
    throw new WebhookError('too_new', `The webhook is ${-age} s in the future: check the clock.`);
}

/** WebCrypto compares in constant time. */
async function isSigned(
  keys: readonly CryptoKey[],
  signatures: readonly string[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const signature of signatures.slice(0, MOST_SIGNATURES)) {
    const bytes = signature.startsWith('v1,') ? base64(signature.slice('v1,'.length)) : null;
    if (bytes?.length !== SIGNATURE_BYTES) continue;
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return true;
  }
  return false;
}

function eventOf(body: Uint8Array): WebhookEvent {
  const invalid = new WebhookError('invalid_payload', 'The body of the webhook is not an event.');
  let event: Partial<WebhookEvent> | null;
  try {
    event = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(body),
    ) as Partial<WebhookEvent> | null;
  } catch {
    throw invalid;
  }
  if (typeof event?.id !== 'string' || typeof event.type !== 'string') throw invalid;
  return event as WebhookEvent;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
