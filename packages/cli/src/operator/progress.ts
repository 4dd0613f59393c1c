import type { Tally } from '@headrace/server/sources/verify/verify-storage.ts';

const TERMINAL_MS = 200;
const LINE_MS = 10_000;
const ERASE_LINE = '\r\u001b[K';

/**
 * Shows progress on stderr: in place on a terminal, otherwise a line every 10 s. Returns the function that
 * stops it.
 */
export function showProgress(tally: Tally): () => void {
  const { stderr } = process;
  const timer = setInterval(
    () => stderr.write(stderr.isTTY ? `${ERASE_LINE}${progressLine(tally)}` : `${progressLine(tally)}\n`),
    stderr.isTTY ? TERMINAL_MS : LINE_MS,
  );
  return () => {
    clearInterval(timer);
    if (stderr.isTTY) stderr.write(ERASE_LINE);
  };
}

function progressLine({ projects, sources, contents, bytes, totalBytes }: Tally): string {
  return (
    `verified ${mebibytes(bytes)} of about ${mebibytes(totalBytes)}: ${projects} projects, ${sources} ` +
    `sources, ${contents} contents`
  );
}

export const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
