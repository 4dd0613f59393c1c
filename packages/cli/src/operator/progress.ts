/** What the verification of the storage has read so far, in words. */
import type { Tally } from '@headrace/server/sources/verify/verify-storage.ts';
import type { Cli } from '../core/cli.ts';
import { startProgress } from '../terminal/progress.ts';

/** Returns the function that stops it. */
export const showProgress = ({ globals, io }: Cli, tally: Tally): (() => void) =>
  globals.quiet
    ? () => {}
    : startProgress(io.stderr, () => ({
        text: progressLine(tally),
        done: tally.bytes,
        total: tally.totalBytes,
      }));

function progressLine({ projects, sources, contents, bytes, totalBytes }: Tally): string {
  return (
    `verified ${mebibytes(bytes)} of about ${mebibytes(totalBytes)}: ${projects} projects, ${sources} ` +
    `sources, ${contents} contents`
  );
}

export const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
