/**
 * A PostgreSQL primary with a standby, both of the embedded binaries, behind one address that leads to whichever is the
 * primary: what an operator gets of Patroni and HAProxy.
 */
import { execFile, spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findBinaries } from './embedded/binaries.ts';
import { ensureCluster, SUPERUSER } from './embedded/cluster.ts';
import { makeSocketDir, placeOf, PORT } from './embedded/place.ts';
import type { Place } from './embedded/place.ts';
import { findProcesses, stopProcesses } from './embedded/processes.ts';
import { asUser, giveTo, serverUid } from './embedded/server-user.ts';
import { SETTINGS } from './embedded/settings.ts';

const LIMIT_MS = 60_000;
const STANDBY = 'standby';
const REPLICATING = {
  ...SETTINGS,
  wal_level: 'replica',
  max_wal_senders: '8',
  wal_keep_size: '512MB',
  hot_standby: 'on',
  // A power cut is not what these tests are about.
  fsync: 'off',
};

/** Of sites: any host of the private network. */
const TRUST_NETWORK = 'host all all 10.0.0.0/8 trust\nhost replication all 10.0.0.0/8 trust\n';

/** A worker that was removed comes back with its lock, so its row alone does not show it. */
const KEEP_REMOVED = `
  create table if not exists removed_workers (id text);
  create or replace function keep_removed() returns trigger language plpgsql as $$
    begin insert into removed_workers values (old.id); return old; end $$;
  create or replace trigger keep_removed before delete on workers for each row execute function keep_removed()`;

export interface Server {
  place: Place;
  /** Where it listens beside its socket. */
  site: Site | null;
  /** A client of the server itself, past the address. */
  client(database?: string): Promise<Client>;
  /** `kill -9` of the postmaster and of all its backends: what a machine without power leaves. */
  kill(): void;
  stop(): Promise<void>;
}

export interface Replicated {
  /** Leads to the primary of the moment. */
  url: string;
  primary(): Server;
  standby(): Server;
  /** Commits wait for the standby, or do not. */
  setSynchronous(isSynchronous: boolean): Promise<void>;
  /** From now on the standby gets nothing: what is written is lost with the primary. */
  cutReplication(): Promise<void>;
  /** Kills the primary, promotes the standby, and leads the address there, after `awayMs` with no primary. */
  failOver(awayMs?: number): Promise<void>;
  /** Workers that were taken for dead: from the first call on. */
  workersRemoved(): Promise<string[]>;
  /** Makes the killed server a standby of the new primary. */
  rebuild(): Promise<void>;
  stop(): Promise<void>;
}

/** Where a server runs, if not here: on a network of its own, where it listens as well. */
export interface Site {
  /** Begins its command line. */
  enter: readonly string[];
  address: string;
}

interface ReplicatedOptions {
  /** By the names of the servers. */
  sites?: Record<'one' | 'two', Site>;
  /** Default: one on the loopback address. */
  address?: SwitchedAddress;
}

export async function startReplicated(
  dir: string,
  { sites, address: given }: ReplicatedOptions = {},
): Promise<Replicated> {
  const start = (name: 'one' | 'two', follows: Server | null) =>
    launch(join(dir, name), { follows, site: sites?.[name] ?? null });
  let primary = await start('one', null);
  let standby = primary;
  const admin = await primary.client();
  await admin.query('create database headrace').finally(() => admin.end());
  const clone = async (name: 'one' | 'two') => {
    await copyCluster(primary, join(dir, name));
    standby = await start(name, primary);
    await until(() => isStreaming(primary));
  };
  await clone('two');
  const address = given ?? (await startAddress());
  await address.leadTo(primary);
  return {
    url: `postgresql://${SUPERUSER}@${address.host}:${address.port}/headrace`,
    primary: () => primary,
    standby: () => standby,
    async setSynchronous(isSynchronous) {
      await run(
        primary,
        `alter system set synchronous_standby_names = ${isSynchronous ? `'${STANDBY}'` : "''"}`,
      );
      await run(primary, 'select pg_reload_conf()');
      const wanted = isSynchronous ? 'sync' : 'async';
      await until(async () => (await syncState(primary)) === wanted);
    },
    async cutReplication() {
      await run(standby, "alter system set primary_conninfo = ''");
      await run(standby, 'select pg_reload_conf()');
      await until(async () => !(await isStreaming(primary)));
    },
    async failOver(awayMs = 0) {
      primary.kill();
      await address.leadTo(null);
      await sleep(awayMs);
      await run(standby, 'alter system reset synchronous_standby_names');
      await run(standby, 'alter system reset primary_conninfo');
      await run(standby, 'select pg_promote(true, 30)');
      [primary, standby] = [standby, primary];
      await address.leadTo(primary);
    },
    async workersRemoved() {
      const client = await primary.client('headrace');
      try {
        await client.query(KEEP_REMOVED);
        const { rows } = await client.query<{ id: string }>('select id from removed_workers');
        return rows.map(({ id }) => id);
      } finally {
        await client.end();
      }
    },
    async rebuild() {
      await standby.stop();
      await clone(standby.place.dataDir.endsWith('one') ? 'one' : 'two');
    },
    async stop() {
      await address.close();
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}

async function run(server: Server, statement: string): Promise<Record<string, unknown>[]> {
  const client = await server.client();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

const isStreaming = async (primary: Server) =>
  (await run(primary, "select from pg_stat_replication where state = 'streaming'")).length > 0;
const syncState = async (primary: Server) =>
  (await run(primary, 'select sync_state from pg_stat_replication'))[0]?.['sync_state'];

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + LIMIT_MS; !(await isDone().catch(() => false)); await sleep(20))
    if (performance.now() > deadline) throw new Error('replication did not get so far in time');
}

/** Starts a server in the folder, with an empty cluster if there is none; `follows`: as that one's standby. */
async function launch(
  dataDir: string,
  { follows, site }: { follows: Server | null; site: Site | null },
): Promise<Server> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const binaries = findBinaries(dataDir);
  const place = placeOf(dataDir, REPLICATING, binaries.postgres);
  await ensureCluster(place, binaries, false);
  const uid = serverUid(place.cluster);
  if (follows) {
    const conninfo = `host=${follows.site?.address ?? follows.place.socketDir} port=${PORT} user=${SUPERUSER} application_name=${STANDBY}`;
    writeFileSync(join(place.cluster, 'standby.signal'), '');
    writeFileSync(
      join(place.cluster, 'postgresql.auto.conf'),
      `primary_conninfo = '${conninfo}'\nrecovery_target_timeline = 'latest'\n`,
    );
    giveTo(uid, place.cluster);
  } else if (site) appendFileSync(join(place.cluster, 'pg_hba.conf'), TRUST_NETWORK);
  rmSync(join(place.cluster, 'postmaster.pid'), { force: true });
  makeSocketDir(place, uid);
  const settings = {
    ...REPLICATING,
    unix_socket_directories: `"${place.socketDir}"`,
    port: String(PORT),
    cluster_name: place.clusterName,
    ...(site && { listen_addresses: site.address }),
  };
  const [command, ...args] = [
    ...(site?.enter ?? []),
    ...asUser(uid, [
      binaries.postgres,
      '-D',
      place.cluster,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]),
  ];
  const output = openSync(place.log, 'a', 0o600);
  spawn(command!, args, {
    detached: true,
    stdio: ['ignore', output, output],
    env: binaries.env,
    cwd: dataDir,
  }).unref();
  closeSync(output);
  const client = async (database = 'postgres') => {
    const opened = new Client({
      host: place.socketDir,
      port: PORT,
      user: SUPERUSER,
      database,
      query_timeout: LIMIT_MS,
    });
    opened.on('error', () => {});
    await opened.connect();
    return opened;
  };
  const server: Server = {
    place,
    site,
    client,
    kill() {
      const { postmaster, children } = findProcesses(place);
      for (const pid of [postmaster, ...children]) if (pid !== null) killNow(pid);
    },
    stop: async () => {
      await stopProcesses(place);
      rmSync(place.socketDir, { recursive: true, force: true });
    },
  };
  await until(async () => (await run(server, 'select 1')).length === 1).catch((error: unknown) => {
    throw new Error(readFileSync(place.log, 'utf8').slice(-2000), { cause: error });
  });
  return server;
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A base backup: the embedded package has no pg_basebackup. */
async function copyCluster(primary: Server, dataDir: string): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const client = await primary.client();
  try {
    await client.query("select pg_backup_start('copy', true)");
    const cluster = join(dataDir, 'postgres');
    // Files that go meanwhile are no loss: the log has what was in them.
    await promisify(execFile)('cp', ['-a', primary.place.cluster, cluster], { timeout: LIMIT_MS }).catch(
      (error: unknown) => {
        if (!/No such file/.test(String((error as { stderr?: string }).stderr))) throw error;
      },
    );
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    writeFileSync(join(cluster, 'backup_label'), rows[0]!.labelfile);
  } finally {
    await client.end();
  }
}

export interface SwitchedAddress {
  host: string;
  port: number;
  /** Breaks all connections; new ones lead to `server`, or nowhere. */
  leadTo(server: Server | null): Promise<void> | void;
  close(): Promise<void>;
}

interface LocalAddress extends SwitchedAddress {
  /** Swallows all that is sent, both ways, and answers no connection: a host without power. */
  goSilent(): void;
}

/** A TCP address that leads to one server, then to another. */
export async function startAddress(): Promise<LocalAddress> {
  let target: string | null = null;
  let isSilent = false;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)));
    if (isSilent) return void socket.pause();
    if (target === null) return void socket.destroy();
    const upstream = connect(target);
    open.add(upstream.on('error', () => {}).on('close', () => open.delete(upstream)));
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (!isSilent) socket.destroy();
    });
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    leadTo(next) {
      isSilent = false;
      target = next && join(next.place.socketDir, `.s.PGSQL.${PORT}`);
      breakAll();
    },
    goSilent() {
      isSilent = true;
      for (const socket of open) socket.unpipe().pause();
    },
    async close() {
      target = null;
      breakAll();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
