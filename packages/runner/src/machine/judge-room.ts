import { statfsSync } from 'node:fs';
import type { RunnerStatus } from '../protocol.ts';

/** What files of new work take, before the watchdog has seen them; of a small disk, a share. */
const LEAST_BYTES = 256 * 1024 ** 2;
const LEAST_FILES = 20_000;
const LEAST_SHARE = 1 / 16;

/** What a disk lacks, with the remedy, for a person; null where it has room for new work. */
export function missingRoom(folder: string): string | null {
  const { bavail, blocks, bsize, ffree, files } = statfsSync(folder);
  const remedy = `delete what else lies there, or set HEADRACE_RUNNER_DIR to a folder of a larger volume`;
  if (bavail * bsize < Math.min(LEAST_BYTES, blocks * bsize * LEAST_SHARE))
    return `room for workspaces: ${mebi(bavail * bsize)} of ${mebi(blocks * bsize)} MiB are free in ${folder}: ${remedy}`;
  // Some file systems have no number of files that they can take.
  if (files > 0 && ffree < Math.min(LEAST_FILES, files * LEAST_SHARE))
    return `room for workspaces: ${folder} takes only ${ffree} more files: ${remedy}`;
  return null;
}

/**
 * Where the disk is full, the runner takes nothing new: workers place work at others. What it has goes on: it may
 * need no more room, and ends with a reason of its own if it does.
 */
export function judgeRoom(status: RunnerStatus, folder: string): RunnerStatus {
  const missing = missingRoom(folder);
  return missing === null ? status : { ...status, ok: false, missing: [...status.missing, missing] };
}

const mebi = (bytes: number) => Math.floor(bytes / 1024 ** 2);
