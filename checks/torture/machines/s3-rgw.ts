/**
 * A real S3 server: Ceph's object gateway of Debian 12, with one monitor and one OSD that keeps all in memory. The
 * packages are only unpacked, into a folder of their own, so that nothing of the machine changes.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endOf } from '../../harness/service.ts';
import { freePorts } from '../lib/fleet.ts';
import { LIBRARIES, libraryPath, unpackedPackages } from './debian-packages.ts';
import type { Host } from './lab-network.ts';

const PACKAGES = ['ceph-mon', 'ceph-osd', 'radosgw'];
const COMMAND_LIMIT_MS = 120_000;
const READY_LIMIT_MS = 90_000;
/** An OSD that asks a monitor too early ends, or waits for ever. */
const STARTS = 4;
const END_LIMIT_MS = 5_000;
/** What the OSD may hold. */
const STORE_BYTES = 2 * 1024 ** 3;

const CACHE = process.env.HEADRACE_CEPH_CACHE ?? '/var/tmp/headrace-ceph-16';

export interface S3User {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface Rgw {
  endpoint: string;
  /** Seconds from the first process to the first answer. */
  readyAfter: number;
  makeUser(name: string): Promise<S3User>;
  stop(): Promise<void>;
}

interface Cluster {
  fsid: string;
  /** The monitor's port. */
  monitor: number;
}

/** `folder` has all that they write. */
function configuration(root: string, folder: string, { fsid, monitor }: Cluster): string {
  return `[global]
fsid = ${fsid}
mon host = [v1:127.0.0.1:${monitor}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
keyring = ${folder}/keyring
run dir = ${folder}/run
admin socket = ${folder}/run/$name.asok
log file = ${folder}/log/$name.log
pid file = ${folder}/run/$name.pid
plugin dir = ${join(root, LIBRARIES, 'ceph')}
erasure code dir = ${join(root, LIBRARIES, 'ceph/erasure-code')}
osd class dir = ${join(root, LIBRARIES, 'rados-classes')}
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail crit = 1
ms bind msgr2 = false
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = ${STORE_BYTES}
[client.rgw]
rgw data = ${folder}/rgw
rgw thread pool size = 64
`;
}

interface RgwOptions {
  /** All that it writes is below. */
  folder: string;
  say: (line: string) => void;
  /** Where it runs; default here, on the loopback address. */
  host?: Pick<Host, 'enter' | 'address'>;
}

const HERE = { enter: [], address: '127.0.0.1' };

/** Starts it on ports of its own. */
export async function startRgw({ folder, say, host = HERE }: RgwOptions): Promise<Rgw> {
  const root = await unpackedPackages(CACHE, PACKAGES);
  for (let start = 1; ; start++) {
    try {
      return await startOnce(root, { folder: join(folder, String(start)), say, host });
    } catch (error) {
      if (start === STARTS) throw error;
      say(`Ceph is started again: ${String(error).slice(0, 300)}`);
    }
  }
}

async function startOnce(root: string, { folder, say, host }: Required<RgwOptions>): Promise<Rgw> {
  const fsid = randomUUID();
  const [monitor, gateway] = (await freePorts(2)) as [number, number];
  const conf = join(folder, 'ceph.conf');
  for (const name of ['run', 'log', 'mon', 'osd', 'rgw']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(conf, configuration(root, folder, { fsid, monitor }));
  const env = {
    PATH: `${join(root, 'usr/bin')}:/usr/bin:/bin`,
    LD_LIBRARY_PATH: libraryPath(root, `${LIBRARIES}/ceph`),
    HOME: folder,
  };
  const said = join(folder, 'said.log');
  const commandLine = (program: string, args: string[]): [string, string[]] => {
    const [command, ...rest] = [...host.enter, join(root, 'usr/bin', program), ...args];
    return [command!, rest];
  };
  const run = async (program: string, ...args: string[]): Promise<string> =>
    (
      await promisify(execFile)(...commandLine(program, args), {
        env,
        timeout: COMMAND_LIMIT_MS,
        maxBuffer: 8 * 1024 ** 2,
      })
    ).stdout;
  const children: ChildProcess[] = [];
  const start = (program: string, ...args: string[]): void => {
    const child = spawn(...commandLine(program, ['-c', conf, '-f', ...args]), {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => appendFileSync(said, text));
    children.push(child);
  };
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
      await endOf(child);
      clearTimeout(timer);
    }
  };

  const from = performance.now();
  const endpoint = `http://${host.address}:${gateway}`;
  try {
    const map = join(folder, 'monmap');
    const osds = join(folder, 'osdmap');
    await run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v1:127.0.0.1:${monitor}]`, map);
    await run('osdmaptool', '--createsimple', '1', '--clobber', osds);
    await run('ceph-authtool', join(folder, 'keyring'), '--create-keyring', '--gen-key', '-n', 'mon.');
    await run('ceph-mon', '-c', conf, '-i', 'a', '--mkfs', '--monmap', map, '--osdmap', osds);
    start('ceph-mon', '-i', 'a');
    await run('ceph-osd', '-c', conf, '-i', '0', '--mkfs');
    start('ceph-osd', '-i', '0');
    start('radosgw', '-n', 'client.rgw', `--rgw-frontends=beast endpoint=${host.address}:${gateway}`);
    await answers(endpoint, () => children.find((child) => child.exitCode !== null));
  } catch (error) {
    await stop();
    const last = existsSync(said) ? readFileSync(said, 'utf8').slice(-2_000) : '';
    throw new Error(`${(error as Error).message}: ${last}`, { cause: error });
  }
  const readyAfter = (performance.now() - from) / 1000;
  say(`Ceph's object gateway answers after ${readyAfter.toFixed(1)} s`);
  return {
    endpoint,
    readyAfter,
    async makeUser(name) {
      const made = JSON.parse(
        await run(
          'radosgw-admin',
          '-c',
          conf,
          '-n',
          'client.rgw',
          'user',
          'create',
          `--uid=${name}`,
          `--display-name=${name}`,
        ),
      ) as { keys: { access_key: string; secret_key: string }[] };
      const { access_key: accessKeyId, secret_key: secretAccessKey } = made.keys[0]!;
      return { accessKeyId, secretAccessKey };
    },
    stop,
  };
}

/** Resolves once the gateway answers. Throws where a process of it has ended, or its time is over. */
async function answers(endpoint: string, ended: () => ChildProcess | undefined): Promise<void> {
  for (const deadline = Date.now() + READY_LIMIT_MS; Date.now() < deadline; await sleep(200)) {
    const { spawnfile, exitCode } = ended() ?? {};
    if (spawnfile !== undefined) throw new Error(`${spawnfile} ended with ${exitCode}`);
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    if (response?.ok) return;
  }
  throw new Error(`Ceph's object gateway does not answer within ${READY_LIMIT_MS / 1000} s`);
}
