import { ApiError } from './errors.ts';
import type { Field } from './errors.ts';
import { fingerprint } from './fingerprint.ts';
import { legacyKeysOf } from './idempotency-key.ts';
import { parseJsonObject } from './json-body.ts';
import type { JsonAnswer, JsonJob } from './json-job.ts';
import { compile } from './validate.ts';

/** One for each operation that was ever sent a large body. */
const checks = new Map<string, (body: unknown) => Field[]>();

function checkOf(schema: string): (body: unknown) => Field[] {
  const known = checks.get(schema) ?? compile(JSON.parse(schema), 'body');
  checks.set(schema, known);
  return known;
}

export default function parseLargeJson({ bytes, schema, legacyKeys, request }: JsonJob): JsonAnswer {
  try {
    const body = parseJsonObject(bytes);
    const faults = checkOf(schema)(body);
    return {
      body: faults.length ? {} : body,
      faults,
      legacyKeys: legacyKeysOf(body, legacyKeys),
      fingerprint: faults.length ? new Uint8Array() : fingerprint({ ...request, body }),
    };
  } catch (error) {
    if (error instanceof ApiError) return { refusal: error.fields ?? [] };
    throw error;
  }
}
