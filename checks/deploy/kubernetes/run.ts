/**
 * `npm run test:kubernetes`: the chart of deploy/chart on Kubernetes 1.20.2, compiled from the source that Debian 12 ships, and
 * Debian's etcd. As root. Needs the mirror of Debian and the npm registry, and 10 GB. The first run compiles for about
 * twenty minutes of one core, at low priority, and builds the images of deploy/Dockerfile. The cluster has namespaces of
 * network, mounts and processes of its own, so its end takes everything along. Two parts:
 *
 *   objects   every value is on, those too that nothing here can serve: pools of kata, a load balancer, a bucket. Nodes are
 *             pretended, so Pods only count as started. Helm installs, upgrades, fails, rolls back and removes.
 *   pods      two nodes with a kubelet, containerd and runc run the Pods of the images. Apps are built there, a runner is
 *             killed and another drained, and all Pods are replaced under load. dnsmasq stands in for CoreDNS.
 *
 * Prints one line per check, passed or FAILED, and exits with 1 if one fails.
 *
 *   --only PART      objects or pods
 *   --keep-logs      leaves the folder with the servers' logs, and prints its name
 *   --help
 *
 * Files are kept in ~/.cache/headrace-kubernetes, or in the folder that HEADRACE_KUBERNETES_CACHE names; of images where
 * checks/deploy/image keeps them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { helpOf } from '../../harness/help.ts';
import { installTools } from '../chart/tools.ts';
import { PROGRAMS as IMAGE_PROGRAMS } from '../image/base.ts';
import { installPrograms } from '../programs.ts';
import { check } from '../report.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { RUNTIME_PROGRAMS } from './container-runtime.ts';
import { makeImages } from './images.ts';
import { startLive } from './live.ts';
import type { Live } from './live.ts';
import { removeGroups } from './node.ts';
import { lifeIn } from './objects.ts';
import { podsOf } from './pods.ts';
import { call, stopAll } from './processes.ts';
import { makeServers } from './servers.ts';

const PROGRAMS = {
  etcd: 'etcd-server',
  ip: 'iproute2',
  unshare: 'util-linux',
  iptables: 'iptables',
  conntrack: 'conntrack',
  dnsmasq: 'dnsmasq-base',
  ...RUNTIME_PROGRAMS,
  ...IMAGE_PROGRAMS,
};
/** For the process in namespaces of its own: its folder. */
const INSIDE = 'HEADRACE_KUBERNETES_INSIDE';
const RUN_MS = 60 * 60_000;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    'keep-logs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const has = (part: 'objects' | 'pods') => options.only === undefined || options.only === part;
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
  const images = join(scratch, 'images');
  try {
    mkdirSync(images);
    if (has('pods') && !(await check('images', () => makeImages(images)))) return;
    const apart = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const { status, error } = spawnSync('unshare', [...apart, process.execPath, ...process.argv.slice(1)], {
      stdio: 'inherit',
      timeout: RUN_MS,
      env: { ...process.env, [INSIDE]: scratch },
    });
    if (error) console.error(error.message);
    if (status !== 0) process.exitCode = 1;
  } finally {
    removeGroups(scratch);
    if (options['keep-logs']) console.log(`logs: ${scratch}`);
    else rmSync(scratch, { recursive: true, force: true });
  }
}

async function inside(scratch: string): Promise<void> {
  try {
    let cluster: Cluster | undefined;
    await check('cluster', async () => {
      // Locks of iptables, and the namespaces of Pods' networks.
      await call('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
      cluster = await startCluster(scratch);
    });
    if (cluster && has('objects')) await checkObjects(cluster);
    if (cluster && has('pods')) await checkPods(cluster, scratch);
  } finally {
    await stopAll();
  }
}

async function checkObjects(cluster: Cluster): Promise<void> {
  await check('objects', async () => {
    const life = await lifeIn(cluster);
    await check('install', life.install);
    await check('upgrade', life.upgrade);
    await check('migration', life.failedMigration);
    await check('rollback', life.rollback);
    await check('uninstall', life.uninstall);
    await life.end();
  });
}

async function checkPods(cluster: Cluster, scratch: string): Promise<void> {
  let live: Live | undefined;
  await check('nodes', async () => {
    live = await startLive(cluster, scratch, join(scratch, 'images'));
  });
  if (live === undefined) return;
  const life = podsOf(live);
  if ((await check('Pods', life.install)) && (await check('work', life.work))) {
    await check('lost runner', life.loseRunner);
    await check('rolling', life.upgrade);
    await check('drain', life.drain);
  }
  await check('removed', life.uninstall);
  await live.end();
}
