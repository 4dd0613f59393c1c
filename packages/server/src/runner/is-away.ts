import { RunnerError } from '@headrace/runner/client';
import { ApiError } from '../http/errors.ts';
import { LostJob } from '../jobs/job.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';

/** Whether the runner or the store is away, or the job was taken over: no reason to give work up. */
export function isAway(error: unknown): boolean {
  return (
    error instanceof LostJob ||
    error instanceof StorageUnavailableError ||
    ((error instanceof RunnerError || error instanceof ApiError) && error.status === 503)
  );
}
