/**
 * Whether a hook is from a sender that knows the secret: it is signed as Standard Webhooks
 * (https://www.standardwebhooks.com), has the secret as a bearer, or the body's HMAC as Sentry, Linear and GitHub
 * send it. All ways are tried with every secret, so that the time reveals nothing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { signingKey } from '../signing-secrets.ts';

const TOLERANCE_SECONDS = 300;
const MOST_SECRETS = 2;

interface Received {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  receivedAt: Date;
}

/** `decoy` is compared in place of secrets that are not there: the time does not say how many there are. It proves nothing. */
export function isAuthentic(secrets: readonly string[], decoy: string, received: Received): boolean {
  const found = [...secrets, decoy, decoy].slice(0, MOST_SECRETS).map((secret, n) => {
    const ways = [isSigned(secret, received), isBearer(secret, received), hasBodyMac(secret, received)];
    return ways.some(Boolean) && n < secrets.length;
  });
  return found.some(Boolean);
}

/** The signature covers id, time and body. A signed hook of another time is a replay. */
function isSigned(secret: string, { headers, bytes, receivedAt }: Received): boolean {
  const id = textOf(headers['webhook-id']);
  const time = textOf(headers['webhook-timestamp']);
  const mac = createHmac('sha256', signingKey(secret))
    .update(`${id}.${time}.`)
    .update(bytes)
    .digest('base64');
  const isEqual = textOf(headers['webhook-signature'])
    .split(' ')
    .map((one) => equals(one, `v1,${mac}`))
    .some(Boolean);
  const age = receivedAt.getTime() / 1000 - (/^\d{1,12}$/.test(time) ? Number(time) : NaN);
  return isEqual && id !== '' && Math.abs(age) <= TOLERANCE_SECONDS && hasKey(secret);
}

/**
 * Whether all of a secret is in its key. What is no base64 after `whsec_` leaves a key of a few bytes, or of none, which
 * anybody could guess.
 */
const hasKey = (secret: string): boolean =>
  !secret.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/_-]+={0,2}$/.test(secret);

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
  // Of a header with thousands of signatures.
  if (given.length !== expected.length) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
