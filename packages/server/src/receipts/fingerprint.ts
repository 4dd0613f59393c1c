import { createHash } from 'node:crypto';

/** A text that is equal for equal JSON values whatever the order of their object keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const object = value as Record<string, unknown>;
    return `{${Object.keys(object)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`)
      .join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/**
 * The fingerprint of a write: method, path in its `/apps` form, query, and the body (`bodyDigest`: a digest
 * that a worker made of a large body already, used in its place).
 */
export function fingerprint(
  method: string,
  path: string,
  query: Record<string, unknown>,
  body: unknown,
  bodyDigest?: Buffer,
): Buffer {
  const hash = createHash('sha256').update(`${method} ${path}\n${canonical(query)}\n`);
  return hash.update(bodyDigest ?? canonical(body ?? {})).digest();
}
