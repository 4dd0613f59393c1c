/**
 * Whether a hook is from a sender that knows the secret: it is signed as Standard Webhooks
 * (https://www.standardwebhooks.com), has the secret as a bearer, or the body's HMAC as Sentry, Linear and GitHub
 * send it. All ways are tried with every secret, so that the time says nothing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { signingKey } from '../signing-secrets.ts';

const TOLERANCE_SECONDS = 300;

interface Received {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  receivedAt: Date;
}

export function isAuthentic(secrets: readonly string[], received: Received): boolean {
  const found = secrets.flatMap((secret) => [
    isSigned(secret, received),
    isBearer(secret, received),
    hasBodyMac(secret, received),
  ]);
  return found.some(Boolean);
}

/** The signature covers id, time and body. A signed hook of another time is a replay. */
function isSigned(secret: string, { headers, bytes, receivedAt }: Received): boolean {
  const id = textOf(headers['webhook-id']);
  const time = textOf(headers['webhook-timestamp']);
  const key = signingKey(secret);
  const mac = createHmac('sha256', key).update(`${id}.${time}.`).update(bytes).digest('base64');
  const isEqual = textOf(headers['webhook-signature'])
    .split(' ')
    .map((one) => equals(one, `v1,${mac}`))
    .some(Boolean);
  const age = receivedAt.getTime() / 1000 - (/^\d{1,12}$/.test(time) ? Number(time) : NaN);
  // Nobody has to know a secret whose base64 is empty.
  return isEqual && id !== '' && Math.abs(age) <= TOLERANCE_SECONDS && key.length > 0;
}

/** A header's bytes are read as Latin-1. */
function isBearer(secret: string, { headers }: Received): boolean {
  const [, given = ''] = /^Bearer +(.*)$/i.exec(textOf(headers.authorization)) ?? [];
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
  return timingSafeEqual(hash(Buffer.from(given, 'latin1')), hash(Buffer.from(secret)));
}

function hasBodyMac(secret: string, { headers, bytes }: Received): boolean {
  const mac = createHmac('sha256', secret).update(bytes).digest('hex');
  const isHex = (given: string) => equals(given.toLowerCase(), mac);
  return [
    isHex(textOf(headers['sentry-hook-signature'])),
    isHex(textOf(headers['linear-signature'])),
    equals(textOf(headers['x-hub-signature-256']).toLowerCase(), `sha256=${mac}`),
  ].some(Boolean);
}

const textOf = (header: string | string[] | undefined): string => (typeof header === 'string' ? header : '');

function equals(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
