/**
 * Secrets at rest: AES-256-GCM under a key derived from the service's secret for one purpose, bound to
 * where they are stored. A secret key that replaced others seals alone; all of them open.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

const keys = new WeakMap<Buffer, Map<string, Buffer>>();

const replaced = new WeakMap<Buffer, readonly Buffer[]>();

/** Names the keys that a secret key replaced. */
export function replaceKeys(secretKey: Buffer, former: readonly Buffer[]): void {
  replaced.set(secretKey, former);
}

/** A secret key and those that it replaced, the newest first: what is of before them opens and verifies. */
export const everyKey = (secretKey: Buffer): readonly Buffer[] => [
  secretKey,
  ...(replaced.get(secretKey) ?? []),
];

/** A key for one purpose alone. */
export function keyFor(secretKey: Buffer, purpose: string): Buffer {
  const ofSecret = keys.get(secretKey) ?? new Map<string, Buffer>();
  keys.set(secretKey, ofSecret);
  const key = ofSecret.get(purpose) ?? Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32));
  ofSecret.set(purpose, key);
  return key;
}

/** Names a secret key among few, and says nothing about it. */
export const keyNumber = (secretKey: Buffer): number => keyFor(secretKey, 'name of the key').readInt32BE();

/**
 * iv, tag and ciphertext in one. `place` names the row: what was sealed for another cannot be opened there.
 */
export function seal(secretKey: Buffer, purpose: string, place: string, text: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFor(secretKey, purpose), iv).setAAD(Buffer.from(place));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Throws when the service's secret is another one, or this was sealed for another place. */
export function unseal(secretKey: Buffer, purpose: string, place: string, sealed: Buffer): string {
  let failure: unknown;
  for (const key of everyKey(secretKey)) {
    try {
      return open(key, purpose, place, sealed);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/** The same sealed by the current key; null where it is already. Throws as `unseal`. */
export function reseal(secretKey: Buffer, purpose: string, place: string, sealed: Buffer): Buffer | null {
  try {
    open(secretKey, purpose, place, sealed);
    return null;
  } catch {
    return seal(secretKey, purpose, place, unseal(secretKey, purpose, place, sealed));
  }
}

function open(secretKey: Buffer, purpose: string, place: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', keyFor(secretKey, purpose), sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  );
}
