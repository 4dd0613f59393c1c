/**
 * `npm run test:console [-- <arguments of vitest>]`: all tests of the console in a real Chromium, against the real
 * service: those that CI runs and the long ones. Root gets Chromium installed; others need it. One test is in Firefox,
 * which root gets, too, and which others may do without.
 *
 * For example: npm run test:console -- checks/console/long/streams.test.ts
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { helpOf } from '../harness/help.ts';
import { getChromium } from '../harness/programs.ts';

const root = join(import.meta.dirname, '../..');
const LIMIT_MS = 40 * 60_000;

if (process.argv.includes('--help')) console.log(helpOf(import.meta.filename));
else if (getChromium((line) => console.error(line)) === null) {
  console.error('Chromium is missing: sudo apt-get install -y chromium');
  process.exitCode = 1;
} else {
  const { status } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/.bin/vitest'),
      'run',
      '--config',
      'checks/console/vitest.config.ts',
      ...process.argv.slice(2),
    ],
    { cwd: root, stdio: 'inherit', timeout: LIMIT_MS },
  );
  process.exitCode = status ?? 1;
}
