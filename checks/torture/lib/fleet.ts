/**
 * Several processes of the service on one PostgreSQL and one data folder, each started again on its address
 * when it ends.
 */
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDatabase } from '../../harness/database.ts';
import type { BenchDatabase } from '../../harness/database.ts';
import { createCaller } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { addressOf, endLeftovers, endOf, endProcess, lastOf, spawnService } from '../../harness/service.ts';
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import type { Setup } from './part.ts';

export interface Member {
  role: 'api' | 'worker';
  name: string;
  /** Whether it takes requests; of a worker: whether its process lives. */
  isUp(): boolean;
  /** Milliseconds since it came up; 0 while it is not. */
  upFor(): number;
  /** Of the process that lives, or lived last. */
  pid(): number;
  /** `kill -9`; it is started again at once. */
  kill9(): Promise<void>;
}

export interface Fleet {
  /** What they share. */
  database: BenchDatabase;
  dataDir: string;
  /** A file with all that its processes said. */
  log: string;
  members: Member[];
  /** Of each api, in their order. */
  bases: string[];
  /** One for each api, in their order; good over its restarts. */
  callers: Caller[];
  key: string;
  /** Processes that ended without having been killed, with what they said last. */
  deaths: string[];
  /** Resolves when every api takes requests. Throws when one does not within its time. */
  allUp(): Promise<void>;
}

const UP_LIMIT_MS = 60_000;
const SECRET = 'a secret of the torture, of 32 characters';

interface FleetOptions {
  apis: number;
  workers: number;
  /** Of each process. */
  env?: Record<string, string>;
  nodeArgs?: string[];
}

/** Starts an empty database with `apis` and `workers` in parallel; they end with the part. */
export async function startFleet(
  setup: Setup,
  { apis, workers, env: more = {}, nodeArgs = [] }: FleetOptions,
): Promise<Fleet> {
  const database = await startDatabase(setup.scratch);
  setup.atEnd(() => database.stop());
  const dataDir = mkdtempSync(join(setup.scratch, 'data-'));
  const key = makeServiceKey();
  const log = join(setup.scratch, 'fleet.log');
  const deaths: string[] = [];
  let isEnding = false;
  const env = { DATABASE_URL: database.url, HEADRACE_SECRET_KEY: SECRET, ...more };

  function member(role: Member['role'], name: string, port: number): Member & { end(): Promise<void> } {
    let child: ChildProcess;
    let upAt: number | null = null;
    let isKilled = false;

    function start(): void {
      const started = spawnService({
        dataDir,
        key,
        nodeArgs,
        env: { ...env, HEADRACE_ROLES: role, HEADRACE_PORT: String(port) },
      });
      child = started;
      isKilled = false;
      const said = lastOf(started);
      for (const stream of [started.stdout!, started.stderr!])
        stream.on('data', (part: Buffer) => appendFileSync(log, part));
      upAt = role === 'worker' ? performance.now() : null;
      const listens = async () => {
        await addressOf(started);
        if (started === child && !isKilled) upAt = performance.now();
      };
      if (role === 'api') listens().catch(() => {});
      started.once('exit', (code, signal) => {
        upAt = null;
        if (isEnding) return;
        if (!isKilled) {
          deaths.push(`${name} ended by itself (${code ?? signal}): ${said()}`);
          setup.say(deaths.at(-1)!);
        }
        // What ends by itself at its start does so again: not in a busy loop.
        setTimeout(
          () => {
            if (!isEnding) start();
          },
          isKilled ? 0 : 500,
        );
      });
    }

    start();
    return {
      role,
      name,
      isUp: () => upAt !== null,
      upFor: () => (upAt === null ? 0 : performance.now() - upAt),
      pid: () => child.pid!,
      async kill9() {
        const victim = child;
        upAt = null;
        isKilled = true;
        victim.kill('SIGKILL');
        await endOf(victim);
      },
      end: () => endProcess(child),
    };
  }

  const ports = await freePorts(apis);
  const members = [
    ...ports.map((port, i) => member('api', `api ${i + 1}`, port)),
    ...Array.from({ length: workers }, (_, i) => member('worker', `worker ${i + 1}`, 0)),
  ];
  const bases = ports.map((port) => `http://127.0.0.1:${port}`);
  const callers = bases.map((base) => createCaller(base, key));
  setup.atEnd(async () => {
    isEnding = true;
    for (const caller of callers) caller.close();
    await Promise.all(members.map((m) => m.end()));
    await endLeftovers(dataDir);
  });
  const fleet: Fleet = {
    database,
    dataDir,
    log,
    members,
    bases,
    callers,
    key,
    deaths,
    async allUp() {
      for (const deadline = Date.now() + UP_LIMIT_MS; !members.every((m) => m.isUp()); await sleep(20)) {
        setup.signal.throwIfAborted();
        if (Date.now() > deadline)
          throw new Error(
            `Not up within ${UP_LIMIT_MS / 1000} s: ${members
              .filter((m) => !m.isUp())
              .map((m) => m.name)
              .join(', ')}; ${deaths.join('; ')}`,
          );
      }
    },
  };
  await fleet.allUp();
  return fleet;
}

/** Below what the kernel gives to outgoing connections: a restarted process has to get its port again. */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; found.length < count && tries < 200; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree && !found.includes(port)) found.push(port);
  }
  if (found.length < count) throw new Error('There are no free ports.');
  return found;
}
