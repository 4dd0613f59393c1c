/**
 * Three machines, as network namespaces, with a database, a store and a balancer beside them:
 *
 *   machine 1  api-1  worker-1  runner-1         db-one, db-two   PostgreSQL, primary and standby
 *   machine 2  api-2  worker-2  runner-2         store            Ceph's object gateway
 *   machine 3                   runner-3         balancer         HAProxy, before the APIs and before the primary
 *
 * Each process is on a host of its own, with its own address, name and disk, and shares its machine's switch. All is real:
 * certificates of `headrace certs`, mTLS, S3, replication over TCP. `sharedLab(setup)` gives the one of the run, with all
 * healed, started and ready; `startLab(setup)` one of the part's own. They end with the run or the part, or with this process. It needs root, iproute2, util-linux and Debian's packages, which are unpacked once.
 *
 *   lab.base, lab.caller            the APIs behind HAProxy; lab.apis: each by itself
 *   lab.role('worker-1')            a process: start, terminate, ended, kill9, crash, unplug, plugIn, setClock, said
 *   role.host                       cut, heal: its own link; run: a command on it; address, disk
 *   lab.cutMachine(n), healMachine  the link of a machine: what is on it still reaches each other
 *   lab.cutBetween(a, b), healBetween(a, b)   two hosts, silently, both ways
 *   lab.database                    failOver, setSynchronous, rebuild … of replicated.fixture.ts; HAProxy follows
 *   lab.databaseHosts, lab.storeHost, lab.balancer   their hosts, to be cut as well
 *   lab.certificate(name, roles)    makes another certificate for a host: { HEADRACE_TLS_CERT_FILE, … }
 *   lab.query(text, values)         rows of the primary of the moment; lab.runners(): those of `runners`
 *   lab.registered(role)            the id of a runner, once it is ready
 *   lab.until(what, look)           what `look` returns once it is not undefined, within two minutes
 *   lab.addRunner(env, megabytes)   starts one more runner, on the machines in turn; `restore` ends it
 *   lab.settled()                   resolves when every process is ready and registered
 *   lab.restore()                   heals all links, sets all clocks right, starts what is down, ends added runners
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createCaller } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import { startReplicated } from '../../../packages/server/src/db/replicated.fixture.ts';
import type { Replicated } from '../../../packages/server/src/db/replicated.fixture.ts';
import type { Setup } from '../lib/part.ts';
import { startHaproxy } from './lab-haproxy.ts';
import { OPEN_DISK, startNetwork } from './lab-network.ts';
import type { Host, Network } from './lab-network.ts';
import { LINK_PORTS, makeRole, PORTS } from './lab-role.ts';
import type { Role, RoleName } from './lab-role.ts';
import { makeBucket, settingsOf } from './s3-rights.ts';
import { startRgw } from './s3-rgw.ts';

const MACHINES = 3;
const SECRET = 'a secret of the torture, of 32 characters';
const CLI = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const CLI_LIMIT_MS = 60_000;
const SETTLE_LIMIT_MS = 120_000;

export interface LabOptions {
  /** Of each of the three runners: runs, commands, builds and previews at once. */
  capacity?: number;
  /** Further variables of a role's processes. */
  env?: Partial<Record<RoleName, Record<string, string>>>;
  /** Of the disk of each process's host. */
  diskMegabytes?: number;
}

/** Of a part, or of a whole run. */
type Scope = Pick<Setup, 'scratch' | 'atEnd' | 'say'>;

/** A row of `runners`. */
export interface SeenRunner {
  boot_id: string;
  name: string;
  state: 'ready' | 'suspect' | 'lost' | 'gone';
  is_draining: boolean;
}

export interface Lab extends Pick<
  Network,
  'cutMachine' | 'healMachine' | 'cutBetween' | 'healBetween' | 'addHost'
> {
  base: string;
  caller: Caller;
  apis: Caller[];
  key: string;
  roles: Role[];
  role(name: string): Role;
  /** Those of one kind, in their order. */
  of(role: RoleName): Role[];
  database: Replicated;
  databaseHosts: Record<'one' | 'two', Host>;
  storeHost: Host;
  balancer: Host;
  certificate(host: Host, roles: readonly RoleName[], name?: string): Promise<Record<string, string>>;
  /** The variables of api and worker, for commands like `headrace storage verify`. */
  serviceEnv: Record<string, string>;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  runners(): Promise<SeenRunner[]>;
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  /** The id under which the role's runner is registered and ready. */
  registered(role: Role): Promise<string>;
  settled(): Promise<void>;
  addRunner(env?: Record<string, string>, diskMegabytes?: number): Promise<Role>;
  restore(): Promise<void>;
}

let shared: Promise<Lab> | undefined;

export async function sharedLab({ whole, say }: Setup): Promise<Lab> {
  shared ??= startLab({ ...whole, say });
  const lab = await shared;
  await lab.restore();
  return lab;
}

export async function startLab(
  setup: Scope,
  { capacity = 8, env = {}, diskMegabytes }: LabOptions = {},
): Promise<Lab> {
  const from = performance.now();
  const folder = mkdtempSync(join(setup.scratch, 'lab-'));
  const within = (name: string) => {
    mkdirSync(join(folder, name), { mode: 0o700 });
    return join(folder, name);
  };
  const network = await startNetwork(within('hosts'), MACHINES);
  setup.atEnd(() => network.close());
  const beside = (name: string) => network.addHost(name);
  const [one, two, storeHost, balancer] = (await Promise.all(
    ['db-one', 'db-two', 'store', 'balancer'].map(beside),
  )) as [Host, Host, Host, Host];
  const placed = async (role: RoleName, n: number, megabytes = diskMegabytes) => {
    const machine = ((n - 1) % MACHINES) + 1;
    const name = `${role}-${n}`;
    const host = await network.addHost(name, { machine, diskMegabytes: megabytes });
    return { role, name, machine, host };
  };
  const places = await Promise.all([
    ...(['api', 'worker'] as const).flatMap((role) => [placed(role, 1), placed(role, 2)]),
    ...Array.from({ length: MACHINES }, (_, i) => placed('runner', i + 1)),
  ]);
  const hostsOf = (role: RoleName) => places.filter((place) => place.role === role).map(({ host }) => host);

  const certs = within('certs');
  const certificate: Lab['certificate'] = async (host, roles, name = host.name) => {
    const which = roles.flatMap((role) => ['--role', role]);
    await promisify(execFile)(
      process.execPath,
      [CLI, 'certs', '--dir', certs, ...which, '--host', host.address, '--name', name],
      { timeout: CLI_LIMIT_MS },
    );
    return {
      HEADRACE_TLS_CERT_FILE: join(certs, `${name}.crt`),
      HEADRACE_TLS_KEY_FILE: join(certs, `${name}.key`),
      HEADRACE_TLS_CA_FILE: join(certs, 'ca.crt'),
    };
  };

  const phase = (what: string) =>
    setup.say(`${what} after ${((performance.now() - from) / 1000).toFixed(0)} s`);
  phase('network');
  const [{ base, database: address }, rgw] = await Promise.all([
    startHaproxy(balancer, join(folder, 'haproxy'), {
      apis: hostsOf('api'),
      databases: { one: one.address, two: two.address },
    }),
    startRgw({ folder: within('ceph'), say: setup.say, host: storeHost }),
  ]);
  setup.atEnd(() => rgw.stop());
  const database = await startReplicated(within('replicated'), { sites: { one, two }, address });
  setup.atEnd(() => database.stop());
  phase('database');
  const owner = await rgw.makeUser('owner');
  const place = { endpoint: rgw.endpoint, bucket: 'objects' };
  await makeBucket(place, owner);

  const key = makeServiceKey();
  const serviceEnv = {
    DATABASE_URL: database.url,
    HEADRACE_SECRET_KEY: SECRET,
    ...settingsOf(place, owner),
  };
  const behindBalancer = { HEADRACE_PUBLIC_URL: base, HEADRACE_TRUSTED_PROXIES: balancer.address };
  const dataDir = within('shared');
  const workers = hostsOf('worker').map((host) => `${host.address}:${PORTS.worker}`);
  const own: Record<RoleName, (address: string) => Record<string, string>> = {
    api: (at) => ({
      ...serviceEnv,
      ...behindBalancer,
      HEADRACE_HOST: at,
      HEADRACE_PORT: String(PORTS.api),
      HEADRACE_API_LISTEN: `${at}:${LINK_PORTS.api}`,
      HEADRACE_API_ADDRESS: `${at}:${LINK_PORTS.api}`,
    }),
    worker: (at) => ({ ...serviceEnv, ...behindBalancer, HEADRACE_WORKER_LISTEN: `${at}:${PORTS.worker}` }),
    runner: (at) => ({
      HEADRACE_RUNNER_LISTEN: `${at}:${PORTS.runner}`,
      HEADRACE_RUNNER_ADDRESS: `${at}:${PORTS.runner}`,
      HEADRACE_WORKER_ADDRESS: workers.join(','),
      HEADRACE_RUNNER_CAPACITY: String(capacity),
      HEADRACE_RUNNER_DIR: join(OPEN_DISK, 'workspaces'),
    }),
  };
  const logs = within('logs');
  const made = async ({ host, ...what }: (typeof places)[number], more: Record<string, string> = {}) =>
    makeRole(what, host, {
      key,
      folder: logs,
      dataDir: what.role === 'runner' ? host.disk : dataDir,
      env: {
        ...own[what.role](host.address),
        ...(await certificate(host, [what.role])),
        ...env[what.role],
        ...more,
      },
    });
  const roles: Role[] = [];
  for (const one of places) roles.push(await made(one));
  const of = (role: RoleName) => roles.filter((one) => one.role === role);
  const caller = createCaller(base, key);
  const apis = of('api').map(({ host }) => createCaller(`http://${host.address}:${PORTS.api}`, key));
  setup.atEnd(() => {
    for (const one of [caller, ...apis]) one.close();
  });
  const query: Lab['query'] = async (text, values = []) => {
    const client = await database.primary().client('headrace');
    try {
      return (await client.query(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const seen = () =>
    query<SeenRunner>('select boot_id, name, state, is_draining from runners order by first_seen_at');
  const until: Lab['until'] = async (what, look) => {
    for (const deadline = Date.now() + SETTLE_LIMIT_MS; ; await sleep(100)) {
      const found = await look().catch(() => undefined);
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`not within ${SETTLE_LIMIT_MS / 1000} s: ${what}`);
    }
  };
  let runners = MACHINES;
  const lab: Lab = {
    ...network,
    base,
    caller,
    apis,
    key,
    roles,
    of,
    role: (name) => roles.find((role) => role.name === name)!,
    database,
    databaseHosts: { one, two },
    storeHost,
    balancer,
    certificate,
    serviceEnv,
    query,
    runners: seen,
    until,
    registered: (role) =>
      until(`${role.name} is registered`, async () => {
        const id = role.registeredAs();
        return (await seen()).find((runner) => runner.boot_id === id && runner.state === 'ready')?.boot_id;
      }),
    async settled() {
      await until('all processes are ready', async () => {
        const answers = await Promise.all([caller, ...apis].map((one) => one.send('GET', '/health/ready')));
        return answers.every(({ status }) => status === 200) || undefined;
      });
      await Promise.all(of('runner').map((role) => lab.registered(role)));
    },
    async addRunner(own = {}, megabytes = diskMegabytes) {
      const role = await made(await placed('runner', ++runners, megabytes), own);
      roles.push(role);
      await role.start();
      return role;
    },
    async restore() {
      await network.healAll();
      for (const role of roles.splice(places.length)) await role.kill9();
      for (const role of roles) role.setClock(0);
      await Promise.all(roles.map(async (role) => role.isUp() || role.start()));
      await lab.settled();
    },
  };
  phase('certificates');
  // One migrates, and the others need not wait for it.
  await of('api')[0]!.start();
  phase('first api');
  await Promise.all(roles.slice(1).map((role) => role.start()));
  phase('all listen');
  await lab.settled();
  setup.say(`three machines are up after ${((performance.now() - from) / 1000).toFixed(0)} s`);
  return lab;
}
