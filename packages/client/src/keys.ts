/** Idempotency keys. */

/** A UUID; `crypto.randomUUID` is missing from pages that are not served over https. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

/**
 * `first:apps.create`, `first:apps.create:2`, …: the same writes have the same keys, even if a repetition omits writes
 * by other methods.
 */
export function keysFrom(first: string): (method: string) => string {
  const counts = new Map<string, number>();
  return (method) => {
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    return `${first}:${method}${count === 1 ? '' : `:${count}`}`;
  };
}
