/**
 * The fingerprint of a request as its receipt keeps it: an HMAC under the service's secret. From a plain hash
 * a short secret in a body, a password or a key, could be guessed by who has a dump of the table.
 */
import { createHmac } from 'node:crypto';
import type { Context } from '../context.ts';
import type { WriteRequest } from '../http/write-request.ts';
import { keyFor } from '../sealing.ts';

type Secret = Pick<Context, 'secretKey'>;
const keys = new WeakMap<Buffer, Buffer>();

function keyOf({ secretKey }: Secret): Buffer {
  const known = keys.get(secretKey) ?? keyFor(secretKey, 'receipt fingerprint');
  keys.set(secretKey, known);
  return known;
}

export const keptFingerprint = (ctx: Secret, { fingerprint }: WriteRequest): Buffer =>
  createHmac('sha256', keyOf(ctx)).update(fingerprint).digest();

/** Receipts of earlier versions have the plain hash, until they expire. */
export const isFingerprintOf = (ctx: Secret, kept: Buffer, request: WriteRequest): boolean =>
  kept.equals(keptFingerprint(ctx, request)) || kept.equals(request.fingerprint);
