/**
 * The fingerprint of a request as its receipt keeps it: an HMAC under the service's secret. From a plain hash
 * a short secret in a body, a password or a key, could be guessed by who has a dump of the table.
 */
import { createHmac } from 'node:crypto';
import type { Context } from '../context.ts';
import type { WriteRequest } from '../http/write-request.ts';
import { everyKey, keyFor } from '../sealing.ts';

type Secret = Pick<Context, 'secretKey'>;

const PURPOSE = 'receipt fingerprint';
const macOf = (secretKey: Buffer, fingerprint: Buffer): Buffer =>
  createHmac('sha256', keyFor(secretKey, PURPOSE)).update(fingerprint).digest();

export const keptFingerprint = ({ secretKey }: Secret, { fingerprint }: WriteRequest): Buffer =>
  macOf(secretKey, fingerprint);

/** Receipts of earlier versions have the plain hash, until they expire. */
export const isFingerprintOf = (
  { secretKey }: Secret,
  kept: Buffer,
  { fingerprint }: WriteRequest,
): boolean =>
  everyKey(secretKey).some((key) => kept.equals(macOf(key, fingerprint))) || kept.equals(fingerprint);
