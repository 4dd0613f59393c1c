/**
 * The faults below a source as the caller sees them: storage that is away or damaged, or no room for the work
 * now.
 */
import { ObjectNotFoundError, StorageUnavailableError } from '../storage/object-store.ts';
import { ApiError } from '../http/errors.ts';
import { MergeUnavailable } from '../merge/unavailable.ts';
import { BlobError } from './blobs.ts';
import { PoolError } from './import/pool.ts';
import type { Refusal } from './import/pool.ts';

export const storageUnavailable = (cause: unknown) =>
  new ApiError(
    'source_storage_unavailable',
    'The storage of sources is not available. Retry in a moment with the same Idempotency-Key.',
    { headers: { 'retry-after': '1', 'x-retry-after': '1' }, cause },
  );
/** Bytes that the database knows are missing or different: the operator has to restore them. */
export const storageCorrupt = (cause: unknown) =>
  storageUnavailable(new Error('the storage of sources is corrupt', { cause }));

/** The error for the caller; an error of another kind is returned unchanged. */
export function sourceFault(error: unknown): unknown {
  if (error instanceof StorageUnavailableError) return storageUnavailable(error);
  if (error instanceof ObjectNotFoundError || error instanceof BlobError) return storageCorrupt(error);
  if (error instanceof PoolError)
    return new ApiError(
      'unavailable',
      'The service has no room for this import now. Retry in a moment with the same Idempotency-Key.',
      { cause: error },
    );
  if (error instanceof MergeUnavailable)
    return new ApiError(
      'unavailable',
      'The service cannot compare or merge sources now. Retry in a moment.',
      { cause: error },
    );
  return error;
}

/** Awaits work on storage, pool or merge engine, and maps its error by `sourceFault`. */
export async function faultsMapped<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw sourceFault(error);
  });
}

/** Throws the refusal of a body as its error. */
export function accepted<T extends { ok: true }>(parsed: T | Refusal): T {
  if (!parsed.ok) throw new ApiError(parsed.code, parsed.message, { fields: parsed.fields });
  return parsed;
}
