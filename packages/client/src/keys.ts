/** Idempotency keys. */

/** A UUID; `crypto.randomUUID` is missing from pages that are not served over https. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

/** `first`, then `first:2`, `first:3`, …: the same writes in the same order have the same keys. */
export function keysFrom(first: string): () => string {
  let count = 0;
  return () => (++count === 1 ? first : `${first}:${count}`);
}
