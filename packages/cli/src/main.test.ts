/** The command line as a process. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

test.runIf(existsSync('/dev/full'))('output for which a disk has no space is a failure that is said', () => {
  const full = openSync('/dev/full', 'w');
  const ran = spawnSync(process.execPath, [MAIN, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    timeout: 30_000,
  });
  closeSync(full);
  expect([ran.status, ran.stderr.toString()]).toEqual([
    1,
    expect.stringContaining('headrace: The output cannot be written: ENOSPC'),
  ]);
});
