/**
 * Opaque, signed cursors. One of another list, filter or organization, or not made by this service, is
 * `invalid_cursor`.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { everyKey, keyFor } from '../sealing.ts';
import { ApiError } from './errors.ts';

const PURPOSE = 'cursors';
const MAC_BYTES = 12;

const macOf = (key: Buffer, payload: Buffer) =>
  createHmac('sha256', key).update(payload).digest().subarray(0, MAC_BYTES);

export const invalidCursor = () =>
  new ApiError(
    'invalid_cursor',
    'This cursor does not belong to this list and its filters. Start without a cursor.',
  );

/** A short digest of what a cursor is bound to. */
export const scopeHash = (...parts: unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);

/** Signs `payload` (JSON). */
export function sealCursor(secret: Buffer, payload: unknown): string {
  const bytes = Buffer.from(JSON.stringify(payload));
  return Buffer.concat([macOf(keyFor(secret, PURPOSE), bytes), bytes]).toString('base64url');
}

/** The payload of a cursor that `sealCursor` made; throws `invalid_cursor`. */
export function openCursor(secret: Buffer, cursor: string): unknown {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) throw invalidCursor();
  const payload = bytes.subarray(MAC_BYTES);
  const mac = bytes.subarray(0, MAC_BYTES);
  // Version 0.1.0 signed with the secret itself, and what else it signed so is no JSON.
  const signing = everyKey(secret).flatMap((key) => [keyFor(key, PURPOSE), key]);
  const isSigned = signing.some((key) => timingSafeEqual(macOf(key, payload), mac));
  if (!isSigned) throw invalidCursor();
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    throw invalidCursor();
  }
}

export const DEFAULT_LIMIT = 50;

interface PageRequest {
  secretKey: Buffer;
  query: { limit?: number; cursor?: string };
  /** Binds the cursor: the list's name, organization, filters. */
  scope: unknown[];
}

/** Rows of a search that reads its list only up to the key `readTo` for a page (null: up to the list's end). */
export interface Searched<T> {
  rows: T[];
  readTo: string | null;
}

/**
 * One page of a list. `load(after, limit)` returns at most `limit` rows behind the row whose key is `after`
 * (null: from the start); the cursor keeps a row's key, `keyOf`. A page of a search may have a cursor although it
 * has fewer rows than its limit, even none.
 */
export async function page<T>(
  { secretKey, query, scope }: PageRequest,
  load: (after: string | null, limit: number) => Promise<T[] | Searched<T>>,
  keyOf: (row: T) => string,
): Promise<{ rows: T[]; nextCursor: string | null; hasMore: boolean }> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const hash = scopeHash(...scope);
  let after: string | null = null;
  if (query.cursor !== undefined) {
    const payload = openCursor(secretKey, query.cursor);
    if (!Array.isArray(payload) || payload[0] !== hash || typeof payload[1] !== 'string')
      throw invalidCursor();
    after = payload[1];
  }
  const loaded = await load(after, limit + 1);
  const { rows, readTo } = Array.isArray(loaded) ? { rows: loaded, readTo: null } : loaded;
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? keyOf(shown.at(-1)!) : readTo;
  return {
    rows: shown,
    hasMore: last !== null,
    nextCursor: last === null ? null : sealCursor(secretKey, [hash, last]),
  };
}
