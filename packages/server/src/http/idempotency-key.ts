/** The Idempotency-Key of a write: from its header, or from where older clients put it in the body. */
import { ApiError, invalid } from './errors.ts';
import type { Field } from './errors.ts';
import type { Call, Route } from './operation.ts';

/** A key in the body, which must equal the header's; a session may send it alone. */
export interface LegacyKey {
  path: string;
  value: string;
}

const KEY_FORM = /^[\x21-\x7e]{1,128}$/;

/**
 * The key, or undefined where it may be missing and is. Throws 400 with `faults`, those of the body and the
 * query, together with its own.
 */
export function idempotencyKeyOf(
  route: Route,
  call: Call,
  legacyKeys: LegacyKey[],
  faults: Field[],
): string | undefined {
  const header = call.headers['idempotency-key'];
  const sent = typeof header === 'string' ? header : undefined;
  const fields = [...faults];
  if (sent !== undefined && !KEY_FORM.test(sent))
    fields.push({ path: '/headers/idempotency-key', message: 'must be 1 to 128 visible ASCII characters' });
  const isRequired = call.principal.kind === 'key' || route.path.startsWith('/api/service-accounts');
  const key = sent ?? (isRequired ? undefined : legacyKeys[0]?.value);
  for (const { path, value } of legacyKeys)
    if (key !== undefined && value !== key) fields.push({ path, message: 'must equal the Idempotency-Key' });
  if (fields.length) throw invalid(...fields);
  if (key === undefined && isRequired)
    throw new ApiError(
      'idempotency_key_required',
      'Send an Idempotency-Key header: 1 to 128 visible ASCII characters, new for each new operation.',
      { fields: [{ path: '/headers/idempotency-key', message: 'is required' }] },
    );
  return key;
}

/** The texts at these JSON pointers. */
export function legacyKeysOf(body: unknown, pointers: readonly string[] = []): LegacyKey[] {
  return pointers.flatMap((path) => {
    const value = valueAt(body, path);
    return typeof value === 'string' ? [{ path, value }] : [];
  });
}

function valueAt(body: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, part) =>
        value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[part] : undefined,
      body,
    );
}
