/**
 * `npm run test:kubernetes`: Helm installs, upgrades, rolls back and removes the chart of deploy/chart on Kubernetes' own API
 * server, controllers and scheduler, 1.20.2, compiled from the source that Debian 12 ships; etcd is Debian's. There is no kubelet:
 * Pods count as started, and the migration as ended, when the scheduler has placed them. As root. Needs the mirror of Debian and
 * the npm registry, and 5 GB. The first run compiles for about fifteen minutes of one core, at low priority. The cluster has
 * namespaces of network, mounts and processes of its own, so its end takes everything along. Prints one line per check,
 * passed or FAILED, and exits with 1 if one fails.
 *
 *   --keep-logs      leaves the folder with the servers' logs, and prints its name
 *   --help
 *
 * Files are kept in ~/.cache/headrace-kubernetes, or in the folder that HEADRACE_KUBERNETES_CACHE names.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { helpOf } from '../../harness/help.ts';
import { installTools } from '../chart/tools.ts';
import { installPrograms } from '../programs.ts';
import { check } from '../report.ts';
import { startCluster } from './cluster.ts';
import { lifeIn } from './objects.ts';
import { stopAll } from './processes.ts';
import { makeServers } from './servers.ts';

const PROGRAMS = { etcd: 'etcd-server', ip: 'iproute2', unshare: 'util-linux' };
/** For the process in namespaces of its own: its folder. */
const INSIDE = 'HEADRACE_KUBERNETES_INSIDE';
const RUN_MS = 60 * 60_000;

const { values: options } = parseArgs({
  options: {
    'keep-logs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) console.log(helpOf(import.meta.filename));
else if (process.env[INSIDE] === undefined) await outside();
else await inside(process.env[INSIDE]);

async function outside(): Promise<void> {
  const isThere = await check('servers', async () => {
    installPrograms(PROGRAMS);
    installTools();
    return makeServers();
  });
  if (!isThere) return;
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-kubernetes-'));
  const apart = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const { status, error } = spawnSync('unshare', [...apart, process.execPath, ...process.argv.slice(1)], {
    stdio: 'inherit',
    timeout: RUN_MS,
    env: { ...process.env, [INSIDE]: scratch },
  });
  if (error) console.error(error.message);
  if (status !== 0) process.exitCode = 1;
  if (options['keep-logs']) console.log(`logs: ${scratch}`);
  else rmSync(scratch, { recursive: true, force: true });
}

async function inside(scratch: string): Promise<void> {
  try {
    await check('cluster', async () => {
      const life = await lifeIn(await startCluster(scratch));
      await check('install', life.install);
      await check('upgrade', life.upgrade);
      await check('migration', life.failedMigration);
      await check('rollback', life.rollback);
      await check('uninstall', life.uninstall);
      await life.end();
    });
  } finally {
    await stopAll();
  }
}
