/**
 * Hosts as namespaces: each has a network, mounts, a name and a disk of its own. They are joined by bridges, one for each
 * machine, which hang on a common one. This process reaches them over a link of its own. A holder process keeps each
 * namespace; it ends with this process, whatever ends that, and takes links, mounts and disk along.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endOf } from '../../harness/service.ts';

const COMMAND_LIMIT_MS = 60_000;
const BACKBONE = 'backbone';
/** A host's disk, where any user of it may enter, as those of sandboxes must. */
export const OPEN_DISK = '/mnt';
/** Nobody has it: what is sent there is lost. */
const NOBODY = '02:00:00:00:00:01';

export interface Host {
  name: string;
  address: string;
  /** Its own disk, at the same path for nobody else. */
  disk: string;
  /** Begins the command line of what runs there; the process keeps its id, and ends with this one. */
  enter: string[];
  /** Runs a command there; resolves with what it printed. */
  run(command: string, ...args: string[]): Promise<string>;
  /** Loses all that is sent to it or by it, without a word; what is there is not told. */
  cut(): Promise<void>;
  heal(): Promise<void>;
  /** `kill -9` of all that runs there. */
  killAll(): void;
}

export interface Network {
  /** A host on a machine, or beside them all. */
  addHost(name: string, on?: { machine?: number; diskMegabytes?: number }): Promise<Host>;
  /** A machine's link to all others; its own hosts still reach each other. */
  cutMachine(machine: number): Promise<void>;
  healMachine(machine: number): Promise<void>;
  /** Two hosts no longer reach each other; all others reach both. */
  cutBetween(one: Host, other: Host): Promise<void>;
  healBetween(one: Host, other: Host): Promise<void>;
  healAll(): Promise<void>;
  close(): Promise<void>;
}

const run = async (command: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { timeout: COMMAND_LIMIT_MS, maxBuffer: 16 * 1024 ** 2 })).stdout;

/** A process whose namespaces are a host's. */
async function hold(script: string, ...args: string[]): Promise<ChildProcess> {
  const child = spawn(
    'unshare',
    [
      '--net',
      '--mount',
      '--uts',
      '--propagation',
      'slave',
      'sh',
      '-ec',
      `${script}; echo held; exec cat`,
      'sh',
      ...args,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  child.stdin.on('error', () => {});
  const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [''])])) as [
    Buffer | string,
  ];
  if (!String(said).startsWith('held')) throw new Error('A namespace cannot be made here: is this root?');
  return child;
}

/** `folder` gets the hosts' disks. `machines`: how many. */
export async function startNetwork(folder: string, machines: number): Promise<Network> {
  const subnet = freeSubnet();
  const hosts: Host[] = [];
  let count = 0;
  const holders = [await hold('ip link set lo up')];
  const switches = holders[0]!.pid!;
  const inSwitches = (script: string) =>
    run('nsenter', [`--net=/proc/${switches}/ns/net`, 'sh', '-ec', script]);
  const uplink = `hr${subnet}-${process.pid % 10_000}`;
  await inSwitches(`ip link add ${BACKBONE} type bridge && ip link set ${BACKBONE} up`);
  for (let n = 1; n <= machines; n++)
    await inSwitches(
      `ip link add m${n} type bridge && ip link set m${n} up
       ip link add up${n} type veth peer name down${n}
       ip link set up${n} master m${n} up && ip link set down${n} master ${BACKBONE} up`,
    );
  await run('ip', [
    'link',
    'add',
    uplink,
    'type',
    'veth',
    'peer',
    'name',
    'outside',
    'netns',
    String(switches),
  ]);
  await run('ip', ['address', 'add', `10.${subnet}.0.1/16`, 'dev', uplink]);
  await run('ip', ['link', 'set', uplink, 'up']);
  await inSwitches(`ip link set outside master ${BACKBONE} up`);

  // Both ends of the link stay up: who sends there is not told.
  const detach = async (port: string): Promise<void> => {
    await inSwitches(`ip link set dev ${port} nomaster`);
  };
  const attach = async (port: string, bridge: string): Promise<void> => {
    await inSwitches(`ip link set dev ${port} master ${bridge}`);
  };
  const loses = (one: Host, other: Host) =>
    one.run('ip', 'neigh', 'replace', other.address, 'lladdr', NOBODY, 'nud', 'permanent', 'dev', 'eth0');
  // There may be none.
  const finds = (one: Host, other: Host) =>
    one.run('sh', '-c', `ip neigh del ${other.address} dev eth0 2>/dev/null || true`);

  const network: Network = {
    async addHost(name, { machine, diskMegabytes = 4_096 } = {}) {
      const number = ++count;
      const address = `10.${subnet}.${machine ?? 100}.${number + 1}`;
      const disk = join(folder, name);
      mkdirSync(disk, { recursive: true });
      const holder = await hold(
        `hostname "$1"; ip link set lo up; mount -t tmpfs -o size="$2"m,mode=0755 tmpfs "$3"; mount --bind "$3" ${OPEN_DISK}`,
        name,
        String(diskMegabytes),
        disk,
      );
      holders.push(holder);
      const pid = holder.pid!;
      const [port, bridge] = [`h${number}`, machine === undefined ? BACKBONE : `m${machine}`];
      await inSwitches(
        `ip link add ${port} type veth peer name eth0 netns ${pid} && ip link set ${port} master ${bridge} up`,
      );
      const namespaces = ['net', 'mnt', 'uts'].map(
        (kind, i) => `--${['net', 'mount', 'uts'][i]}=/proc/${pid}/ns/${kind}`,
      );
      const enter = ['setpriv', '--pdeathsig', 'KILL', '--', 'nsenter', ...namespaces, '--'];
      const [first, ...rest] = enter;
      const host: Host = {
        name,
        address,
        disk,
        enter,
        run: (command, ...args) => run(first!, [...rest, command, ...args]),
        cut: () => detach(port),
        heal: () => attach(port, bridge),
        killAll() {
          for (const one of processesIn(pid)) if (one !== pid) killNow(one);
        },
      };
      await host.run('sh', '-ec', `ip address add ${address}/16 dev eth0; ip link set eth0 up`);
      hosts.push(host);
      return host;
    },
    cutMachine: (machine) => detach(`up${machine}`),
    healMachine: (machine) => attach(`up${machine}`, `m${machine}`),
    async cutBetween(one, other) {
      await Promise.all([loses(one, other), loses(other, one)]);
    },
    async healBetween(one, other) {
      await Promise.all([finds(one, other), finds(other, one)]);
    },
    async healAll() {
      for (let n = 1; n <= machines; n++) await network.healMachine(n);
      for (const host of hosts) {
        await host.heal();
        await host.run('ip', 'neigh', 'flush', 'dev', 'eth0', 'nud', 'permanent');
      }
    },
    async close() {
      for (const holder of holders) {
        for (const one of processesIn(holder.pid!)) if (one !== holder.pid) killNow(one);
        holder.stdin!.end();
      }
      await Promise.all(holders.map((holder) => endOf(holder)));
    },
  };
  return network;
}

/** The second number of a network 10.x.0.0/16 that this machine does not use. */
function freeSubnet(): number {
  const used = Object.values(networkInterfaces()).flatMap((all) => all!.map(({ address }) => address));
  for (let tries = 0; tries < 100; tries++) {
    const subnet = 64 + Math.floor(Math.random() * 128);
    if (!used.some((address) => address.startsWith(`10.${subnet}.`))) return subnet;
  }
  throw new Error('No private network is free.');
}

/** All processes in the network namespace of one. */
function processesIn(holder: number): number[] {
  const network = (pid: number | string) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`);
    } catch {
      return null;
    }
  };
  const wanted = network(holder);
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && wanted !== null && network(pid) === wanted)
    .map(Number);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
