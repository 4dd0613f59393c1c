import { isDatabaseAway, isDiskFull } from '../db/faults.ts';
import { ApiError } from './errors.ts';
import { retryHeaders } from './rate-limit.ts';

/** Operators need a while to make room. */
const DISK_FULL_SECONDS = 60;

/** What the caller gets where the database could not do its part; undefined for another error. */
export function databaseFault(error: unknown): ApiError | undefined {
  if (isDiskFull(error))
    return new ApiError(
      'unavailable',
      "The database's disk is full, and nothing was stored. The operator of this service has to make room.",
      { cause: error, headers: retryHeaders(DISK_FULL_SECONDS) },
    );
  if (isDatabaseAway(error))
    return new ApiError('unavailable', 'The database is away. Retry in a moment.', { cause: error });
  return undefined;
}
