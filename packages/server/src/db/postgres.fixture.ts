/**
 * One PostgreSQL server for all tests of a run (vitest's globalSetup), with the migrated schema and the
 * log's partitions as a template to clone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { runnerProgram } from '../../../runner/src/client/runner-program.ts';
import { createPartitions } from '../events/partitions.ts';
import { openDatabase } from './database.ts';
import type { EmbeddedPostgres } from './embedded/index.ts';
import { startEmbeddedPostgres } from './embedded/index.ts';
import { placeOf } from './embedded/place.ts';
import { stopProcesses } from './embedded/processes.ts';
import { migrate } from './migrate.ts';

const TEMPLATE = 'headrace_template';
const ROOM = 2 ** 30;

export type TestConnection = EmbeddedPostgres['connection'];

declare module 'vitest' {
  interface ProvidedContext {
    /** `template` is the name of the database to clone. */
    template: string;
    postgres: TestConnection;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const compiled = compileModules();
  const parent = memoryFolder();
  await removeLeftovers(parent);
  const dataDir = join(parent, `headrace-test-${process.pid}`);
  mkdirSync(dataDir, { mode: 0o700 });
  const log = { info: () => {}, warn: console.warn, error: console.error };
  const server = await startEmbeddedPostgres({
    dataDir,
    log,
    settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', autovacuum: 'off' },
  });
  const teardown = async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await Promise.all([makeTemplate(server.connection), compiled]);
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide('postgres', server.connection);
  project.provide('template', TEMPLATE);
  return teardown;
}

/**
 * Fills the cache of compiled modules (vitest.config.ts) in a fresh clone: a process writes it only when it
 * ends by itself, and most of those that tests start are killed. Their start takes 0.6 instead of 1.1 s of CPU
 * time.
 */
async function compileModules(): Promise<void> {
  const cache = process.env.NODE_COMPILE_CACHE;
  if (cache === undefined || existsSync(cache)) return;
  // Each set of V8 flags has a cache of its own; a runner has --expose-gc.
  const starts = [['../main.ts'], ['--expose-gc', await runnerProgram(tmpdir())]];
  await Promise.all(
    starts.map((argv) =>
      once(
        spawn(process.execPath, [...argv, '--help'], { cwd: import.meta.dirname, stdio: 'ignore' }),
        'exit',
      ),
    ),
  );
}

async function makeTemplate(connection: TestConnection): Promise<void> {
  const client = new Client(connection);
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await migrate({ ...connection, database: TEMPLATE });
  const template = openDatabase({ ...connection, database: TEMPLATE }, { max: 1 });
  // Each service would make them in its own database: a copy costs a fifth of that.
  await createPartitions(template.db);
  await template.close();
  await client.query(`alter database ${TEMPLATE} with is_template true allow_connections false`);
  await client.end();
}

/** Cloning databases is mostly file creation: so in memory, where a container has not made that tiny. */
function memoryFolder(): string {
  if (!existsSync('/dev/shm')) return tmpdir();
  const { bavail, bsize } = statfsSync('/dev/shm');
  return bavail * bsize > ROOM ? '/dev/shm' : tmpdir();
}

/** A run that was killed could not stop its server. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^headrace-test-(\d+)$/.exec(name)?.[1] ?? 0);
    if (pid === 0 || isAlive(pid)) continue;
    const folder = join(parent, name);
    try {
      await stopProcesses(placeOf(folder, {}, ''));
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      console.warn(`A former test run left ${folder}: ${(error as Error).message}`);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
