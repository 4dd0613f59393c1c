import { createHash } from 'node:crypto';

/** A text that is equal for equal JSON values whatever the order of their object keys. */
function canonical(value: unknown): string {
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

interface FingerprintOf {
  method: string;
  /** In its `/apps` form. */
  path: string;
  query: unknown;
  body: unknown;
  /** A digest that a worker made of a large body already: taken in place of the body. */
  bodyDigest?: Buffer | undefined;
}

/** Equal for requests that ask for the same write. */
export function fingerprint({ method, path, query, body, bodyDigest }: FingerprintOf): Buffer {
  const hash = createHash('sha256').update(`${method} ${path}\n${canonical(query)}\n`);
  return hash.update(bodyDigest ?? canonical(body ?? {})).digest();
}
