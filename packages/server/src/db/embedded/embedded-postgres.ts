/**
 * Runs a PostgreSQL server of our own below the data folder.
 *
 * - It is detached: no signal to the service's group reaches it, and it is stopped last, once everything
 *   has let go of it.
 * - A service that was killed leaves it running. The next start adopts it when it answers and has the
 *   same settings; else it is stopped,
 *   together with backends that outlived their postmaster, and started again.
 * - One connection watches it. When that ends, the server is brought up again the same way: adopted (one
 *   backend crashed and the
 *   postmaster reset itself) or restarted.
 * The caller holds the data folder's lock (`lockDataDir`) from before the start until after the stop.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Binaries } from './binaries.ts';
import { findBinaries } from './binaries.ts';
import { SUPERUSER, ensureCluster } from './cluster.ts';
import type { Place } from './place.ts';
import { PORT, makeSocketDir, placeOf } from './place.ts';
import { findProcesses, stopProcesses } from './processes.ts';
import { asUser, serverUid } from './server-user.ts';
import { SETTINGS } from './settings.ts';

const DATABASE = 'headrace';
/** Crash recovery of a gigabyte of log takes tens of seconds. */
const START_LIMIT = 120_000;
/** A running server that does not answer within this time is replaced. */
const ADOPT_LIMIT = 10_000;
const RESTART_ATTEMPTS = 10;
const LOG_BYTES_MAX = 4 << 20;

export interface EmbeddedPostgres {
  /** Unix socket, user and database, for `pg`. */
  connection: { host: string; port: number; user: string; database: string };
  /** Fast shutdown; resolves once no process of the server lives. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /**
   * `down`: it died and is being restarted; `up`: it answers again; `failed`: it stays down, the service
   * should end.
   */
  onStatus?: (status: 'up' | 'down' | 'failed') => void;
  /** Over the defaults; tests turn `fsync` off. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Resolves when the server answers. Measured on two cores: 0.9 s with a new data folder, 55 ms later;
 * under a load of ten 0.2 s, and 40-100 ms to adopt.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const binaries = findBinaries(options.dataDir);
  const settings = { ...SETTINGS, ...options.settings };
  const place = placeOf(options.dataDir, settings, binaries.postgres);
  await ensureCluster(place, binaries, settings['fsync'] === 'on');

  const stopping = new AbortController();
  let restarting: Promise<void> = Promise.resolve();
  let watcher = await bringUp(place, binaries, settings);
  watch();

  function watch(): void {
    let isLost = false;
    const lost = () => {
      if (!isLost && !stopping.signal.aborted) restarting = restart();
      isLost = true;
    };
    watcher.once('end', lost);
    // The connection may have ended before the listener was there.
    watcher.query('select 1').catch(lost);
  }

  async function restart(): Promise<void> {
    options.onStatus?.('down');
    log.warn('The embedded PostgreSQL went away; bringing it up again.');
    for (let attempt = 1; attempt <= RESTART_ATTEMPTS && !stopping.signal.aborted; attempt++) {
      try {
        watcher = await bringUp(place, binaries, settings);
        watch();
        log.info('The embedded PostgreSQL is up again.');
        options.onStatus?.('up');
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.error({ err: error, attempt }, 'The embedded PostgreSQL did not come up.');
        await sleep(Math.min(5_000, 100 * 2 ** attempt), undefined, { signal: stopping.signal }).catch(
          () => {},
        );
      }
    }
    if (!stopping.signal.aborted) options.onStatus?.('failed');
  }

  return {
    connection: connectionOf(place, DATABASE),
    async stop() {
      stopping.abort();
      // A restart under way fails with the server that it is starting, or has just brought one up.
      await stopProcesses(place);
      await restarting;
      await watcher.end().catch(() => {});
      await stopProcesses(place);
      rmSync(place.socketDir, { recursive: true, force: true });
    },
  };
}

/**
 * How to reach the server of a service that runs on this data folder, which has to exist; for the
 * operator's commands.
 */
export function embeddedConnection(dataDir: string): EmbeddedPostgres['connection'] {
  return connectionOf(placeOf(dataDir, SETTINGS, ''), DATABASE);
}

/** Adopts or starts the server; returns an open connection to it. */
async function bringUp(place: Place, binaries: Binaries, settings: Record<string, string>): Promise<Client> {
  const { postmaster, children } = findProcesses(place);
  const adopted = postmaster === null ? null : await adopt(place);
  if (adopted) return adopted;
  if (postmaster !== null || children.length > 0) await stopProcesses(place);
  return await launch(place, binaries, settings);
}

async function adopt(place: Place): Promise<Client | null> {
  const client = await connectWithin(
    place,
    ADOPT_LIMIT,
    () => findProcesses(place).postmaster !== null,
  ).catch(() => null);
  if (!client) return null;
  const {
    rows: [row],
  } = await client.query<{ name: string }>("select current_setting('cluster_name') as name");
  if (row!.name === place.clusterName) return client;
  await client.end();
  return null;
}

async function launch(place: Place, binaries: Binaries, settings: Record<string, string>): Promise<Client> {
  const uid = serverUid(place.cluster);
  // No process of this server lives, so the file is stale; its process id may be in use again, and the
  // server would refuse to start.
  rmSync(join(place.cluster, 'postmaster.pid'), { force: true });
  makeSocketDir(place, uid);
  const all = {
    ...settings,
    unix_socket_directories: quoted(place.socketDir),
    port: String(PORT),
    cluster_name: place.clusterName,
  };
  const [command, ...args] = asUser(uid, [
    binaries.postgres,
    '-D',
    place.cluster,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const isLogFull = (statSync(place.log, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX;
  const output = openSync(place.log, isLogFull ? 'w' : 'a', 0o600);
  const from = isLogFull ? 0 : statSync(place.log).size;
  const child = spawn(command!, args, {
    detached: true,
    stdio: ['ignore', output, output],
    env: binaries.env,
    cwd: place.dataDir,
  });
  closeSync(output);
  let ended: string | null = null;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended = `exit ${code ?? signal}`));
  child.unref();
  try {
    return await connectWithin(place, START_LIMIT, () => ended === null);
  } catch (error) {
    const said = readFileSync(place.log)
      .subarray(from)
      .toString('utf8')
      .trim()
      .split('\n')
      .slice(-10)
      .join('\n');
    throw new Error(
      `The embedded PostgreSQL in ${place.dataDir} did not start (${ended ?? 'no answer'}): ${said}`,
      { cause: error },
    );
  }
}

/** Tries until the server answers, `isAlive` says no, or the time is over. */
async function connectWithin(place: Place, milliseconds: number, isAlive: () => boolean): Promise<Client> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    try {
      return await connect(place, DATABASE);
    } catch (error) {
      if ((error as { code?: string }).code === '3D000') await createDatabase(place);
      else if (!isAlive() || performance.now() > deadline) throw error;
      else await sleep(5);
    }
  }
}

async function connect(place: Place, database: string): Promise<Client> {
  const client = new Client({
    ...connectionOf(place, database),
    application_name: 'headrace supervisor',
    connectionTimeoutMillis: 2_000,
    query_timeout: 60_000,
  });
  // Its 'end' follows; without a listener it would end the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function createDatabase(place: Place): Promise<void> {
  const client = await connect(place, 'postgres');
  try {
    await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}

function connectionOf(place: Place, database: string) {
  return { host: place.socketDir, port: PORT, user: SUPERUSER, database };
}

/** An element of a PostgreSQL list setting: a path may hold commas and spaces. */
function quoted(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
