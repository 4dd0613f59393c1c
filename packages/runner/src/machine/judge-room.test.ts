/** On a file system of a few MiB: an in-memory one in a mount namespace of the test's own, which needs root. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../runner.fixture.ts';
import { judgeRoom, missingRoom } from './judge-room.ts';

const folder = scratch();

/** What `missingRoom` says of a file system with these options, after the script has run in it. */
function missingIn(options: string, script: string): string | null {
  const look = `import(${JSON.stringify(join(import.meta.dirname, 'judge-room.ts'))})
    .then(({ missingRoom }) => console.log(JSON.stringify(missingRoom('.'))))`;
  const told = execFileSync(
    'unshare',
    [
      '--mount',
      'sh',
      '-ec',
      `mount -t tmpfs -o ${options} tmpfs "$1"; cd "$1"; ${script}; "$2" -e "$3"`,
      'sh',
      folder,
      process.execPath,
      look,
    ],
    { encoding: 'utf8', timeout: 30_000 },
  );
  return JSON.parse(told) as string | null;
}

test.skipIf(process.getuid!() !== 0)('a disk that is full, or takes no more files, has no room', () => {
  expect(missingIn('size=32m', 'true')).toBe(null);
  expect(missingIn('size=32m', 'head -c 31m /dev/zero > a')).toMatch(
    /^room for workspaces: 1 of 32 MiB are free in /,
  );
  expect(missingIn('size=32m,nr_inodes=100', 'touch $(seq 97)')).toMatch(/takes only \d more files/);
});

test('with room, a status is what it was', () => {
  const status = { ok: true, missing: [] } as unknown as Parameters<typeof judgeRoom>[0];
  expect(missingRoom(folder)).toBe(null);
  expect(judgeRoom(status, folder)).toBe(status);
});
