/** The steps of the guide, as an operator takes them, against a live service that is written to all the time. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isServiceKey } from '@headrace/server/accounts/index.ts';
import { readManifest, restore } from '@headrace/server/backup/index.ts';
import { startService } from '@headrace/server/boot.ts';
import type { Service } from '@headrace/server/boot.ts';
import { readConfig } from '@headrace/server/config.ts';
import { openValue } from '@headrace/server/environment/values.ts';
import { DELETION_LOCK } from '@headrace/server/db/advisory-locks.ts';
import { migrate } from '@headrace/server/db/migrate.ts';
import { OWNER, startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestAnswer, TestServer } from '@headrace/server/service.fixture.ts';
import { Copy, gitOk, newRepository, refsOf } from '@headrace/server/scm/git-http/git-http.fixture.ts';
import type { TestRepository } from '@headrace/server/scm/git-http/git-http.fixture.ts';
import { localFolder } from '@headrace/server/scm/local/folders.ts';
import { createLocalStore } from '@headrace/server/storage/local-store.ts';
import { P } from '@headrace/server/threads/threads.fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const SECRET = 'test secret of at least 32 characters';
const WRITERS = 4;

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}
function headrace(args: string[], env: Record<string, string>): Promise<Ended> {
  const all = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: all, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 99) : 0, stdout, stderr }),
    );
  });
}

/** What one writer was told: an app with this content, when it was acknowledged, and when its deletion was. */
interface Written {
  appId: string;
  content: string;
  at: number;
  /** Whether its deletion was asked for, and when it was acknowledged. */
  deletion?: { at: number };
}

let server: TestServer;
let restored: Service;
let base: string;
let folder: string;
let report: { point: { at: string }; objects: { count: number; missing: string[] } };
const written: Written[] = [];
const cursors: string[] = [];
let feed: string;
let variable: string;
let repository: TestRepository;
let pushed: string;
const inBackup = () => written.filter(({ at }) => at < Date.parse(report.point.at));

async function ok(answer: Promise<TestAnswer>): Promise<TestAnswer['body']> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return body;
}

async function write(content: string): Promise<Written> {
  const { app } = await ok(server.call('POST', `${P}/apps`, { name: content }));
  await ok(server.call('POST', `${P}/apps/${app.id}/sources`, { files: [{ path: 'a.txt', content }] }));
  const record: Written = { appId: app.id, content, at: Date.now() };
  written.push(record);
  return record;
}

async function remove(record: Written): Promise<void> {
  record.deletion = { at: Infinity };
  await ok(server.call('DELETE', `${P}/apps/${record.appId}`));
  record.deletion.at = Date.now();
}

/** Writes until `signal`: makes apps with sources, and deletes every third, whose objects go two seconds later. */
async function writer(name: string, signal: AbortSignal): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    const record = await write(`${name} ${i}`);
    if (i % 3 === 0) await remove(record);
  }
}

/** On the server of the service's own database. */
async function emptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const { databaseUrl } = server.service.ctx.config;
  const name = `empty_${process.pid}`;
  const client = new pg.Client({ connectionString: databaseUrl! });
  await client.connect();
  await client.query(`create database ${name}`);
  return {
    url: databaseUrl!.replace(/\/\/\/\w+/, `///${name}`),
    async drop() {
      await client.query(`drop database ${name} with (force)`);
      await client.end();
    },
  };
}

const head = async () => (await ok(server.call('GET', `${feed}/head`))).cursor as string;
const at = (path: string, headers: Record<string, string> = {}) =>
  fetch(base + path, { headers: { 'x-api-key': server.key, ...headers } });

beforeAll(async () => {
  server = await startTestServer({ HEADRACE_CLEANUP_GRACE_SECONDS: '2', HEADRACE_SECRET_KEY: SECRET });
  folder = await mkdtemp(join(tmpdir(), 'headrace-backup-'));
  const { appId } = await write('first');
  feed = `${P}/apps/${appId}/events`;
  variable = `${P}/apps/${appId}/environment`;
  for (const [name, secret] of [
    ['PLAIN', false],
    ['SECRET', true],
  ] as const)
    await ok(server.call('PUT', `${variable}/${name}`, { value: `value of ${name}`, secret }));
  cursors.push(await head());
  repository = await newRepository(server, [{ path: 'a.txt', content: 'a' }]);
  const copy = await Copy.of(repository);
  pushed = await copy.commit('work', [{ path: 'b.txt', content: 'b' }]);
  expect((await copy.push('work')).code).toBe(0);
  await copy.remove();
  const stop = new AbortController();
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(`w${i}`, stop.signal)));
  await vi.waitFor(() => expect(written.length).toBeGreaterThan(20), { timeout: 20_000 });
  const { databaseUrl, dataDir } = server.service.ctx.config;
  const env = { DATABASE_URL: databaseUrl!, HEADRACE_DATA_DIR: dataDir, HEADRACE_SECRET_KEY: SECRET };
  const backup = await headrace(['backup', join(folder, 'b'), '--json'], env);
  await vi.waitFor(() => expect(written.at(-1)!.at).toBeGreaterThan(Date.now() - 2_000));
  stop.abort();
  await writing;
  expect([backup.code, backup.stderr]).toEqual([0, '']);
  report = JSON.parse(backup.stdout);
  await ok(server.call('PATCH', `${P}/apps/${appId}`, { name: 'after the point' }));
  cursors.push(await head());

  const into = { HEADRACE_DATA_DIR: join(folder, 'd') };
  const answer = await headrace(['restore', join(folder, 'b'), '--json'], into);
  expect([answer.code, answer.stderr]).toEqual([0, '']);
  expect(JSON.parse(answer.stdout).storage).toMatchObject({ sound: true, warnings: 0 });
  const config = readConfig({ ...into, HEADRACE_PORT: '0', HEADRACE_RATE_LIMIT: '1000000' }, isServiceKey);
  restored = await startService(config, pino({ level: 'fatal' }));
  base = restored.address!;
});
afterAll(async () => {
  const runner = restored?.ctx.runnerStatus();
  await restored?.stop();
  if (runner) process.kill(runner.pid, 'SIGTERM');
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a restored backup', () => {
  test('has every write that was acknowledged before its point, with its bytes', async () => {
    expect(written.length).toBeGreaterThan(inBackup().length);
    expect(inBackup().length).toBeGreaterThan(20);
    for (const { appId, content, deletion } of inBackup()) {
      const apps = await at(`${P}/apps/${appId}`);
      if (deletion) {
        if (deletion.at < Date.parse(report.point.at)) expect([appId, apps.status]).toEqual([appId, 404]);
        continue;
      }
      const { sources } = (await (await at(`${P}/apps/${appId}/sources`)).json()) as {
        sources: { id: string }[];
      };
      const file = await at(`${P}/apps/${appId}/sources/${sources[0]!.id}/file?path=a.txt`);
      expect(((await file.json()) as { file: { content: string } }).file.content).toBe(content);
    }
    expect(restored.notices).toEqual([]);
  });

  test('has each event once, without a gap', async () => {
    const events = async () => {
      const { rows } = await restored.ctx.db
        .selectFrom('events')
        .select(['sequence', 'type', 'project_id'])
        .orderBy('sequence')
        .execute()
        .then((found) => ({ rows: found }));
      return rows;
    };
    const kept = inBackup().map(({ appId }) => appId);
    await vi.waitFor(async () => {
      const made = (await events()).filter(({ type }) => type === 'platform.app.created');
      expect(made.map(({ project_id: id }) => id)).toEqual(expect.arrayContaining(kept));
    });
    const all = await events();
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, i) => i + 1));
  });

  test('answers 410 cursor_expired to every cursor from before it, and takes new ones', async () => {
    for (const cursor of cursors) {
      for (const answer of [
        await at(`${feed}?cursor=${cursor}`),
        await at(`${feed}/stream?cursor=${cursor}`),
        await at(`${feed}/stream`, { 'last-event-id': cursor }),
      ]) {
        const { error } = (await answer.json()) as { error: { code: string } };
        expect([answer.status, error.code]).toEqual([410, 'cursor_expired']);
      }
    }
    const { cursor } = (await (await at(`${feed}/head`)).json()) as { cursor: string };
    expect((await at(`${feed}?cursor=${cursor}`)).status).toBe(200);
  });

  test('has the repositories, with their objects and references', async () => {
    const { name, dir } = repository;
    const at = { name, dir: localFolder(restored.ctx.config, repository.id) };
    expect(at.dir).not.toBe(dir);
    const url = (key: string = server.key) => `${base.replace('://', `://x:${key}@`)}/git/${name}.git`;
    const refs = await refsOf({ ...at, id: repository.id, url });
    expect(refs).toEqual(await refsOf(repository));
    expect(refs['refs/heads/work']).toBe(pushed);
    await gitOk(['fsck', '--strict'], { cwd: at.dir });
  });

  test('has the environment variables, and opens their values', async () => {
    const { variables } = (await (await at(variable)).json()) as { variables: unknown[] };
    expect(variables).toMatchObject([
      { name: 'PLAIN', value: 'value of PLAIN' },
      { name: 'SECRET', value: null },
    ]);
    const rows = await restored.ctx.db.selectFrom('variables').selectAll().orderBy('name').execute();
    expect(rows.map((row) => openValue(restored.ctx.secretKey, row))).toEqual([
      'value of PLAIN',
      'value of SECRET',
    ]);
  });

  test('has the passwords and the secret key', async () => {
    const answer = await fetch(`${base}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: base },
      body: JSON.stringify(OWNER),
    });
    expect([answer.status, restored.ctx.secretKey.toString()]).toEqual([200, SECRET]);
  });
});

describe('is refused', () => {
  const backup = () => join(folder, 'b');
  const external = () => ({
    DATABASE_URL: server.service.ctx.config.databaseUrl!,
    HEADRACE_DATA_DIR: join(folder, 'e'),
    HEADRACE_SECRET_KEY: SECRET,
  });

  test('a backup into a folder that is not empty', async () => {
    const env = { ...external(), HEADRACE_DATA_DIR: server.service.ctx.config.dataDir };
    expect(await headrace(['backup', backup()], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty'),
    });
  });

  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      'a data folder that is not empty',
      () => ({ HEADRACE_DATA_DIR: join(folder, 'd') }),
      /is not empty: it has/,
    ],
    ['a database that is not empty', external, /the database is not empty/],
    [
      'another secret key',
      () => ({ HEADRACE_DATA_DIR: join(folder, 'f'), HEADRACE_SECRET_KEY: 'x'.repeat(32) }),
      /HEADRACE_SECRET_KEY is not the backup's/,
    ],
  ])('a restore: %s', async (_, env, why) => {
    expect(await headrace(['restore', backup()], env())).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(why),
    });
  });

  test('a restore of a folder without a manifest, and of a damaged table, which leaves no database to start on', async () => {
    const empty = await emptyDatabase();
    const env = { ...external(), HEADRACE_DATA_DIR: join(folder, 'g'), DATABASE_URL: empty.url };
    expect(await headrace(['restore', folder], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds no whole backup'),
    });
    const file = join(backup(), 'tables', 'projects.copy.zst');
    const bytes = await readFile(file);
    await writeFile(file, Buffer.concat([bytes, bytes]));
    const answer = await headrace(['restore', backup()], env);
    await writeFile(file, bytes);
    expect([answer.code, answer.stderr]).not.toEqual([0, '']);
    await expect(
      startService(readConfig({ ...env, HEADRACE_PORT: '0' }, isServiceKey), pino({ level: 'fatal' })),
    ).rejects.toThrow(/A restore into this database did not end/);
    await empty.drop();
  });
});

test('a restore that ends while it copies objects leaves no database to start on', async () => {
  const empty = await emptyDatabase();
  const [connection, from] = [{ connectionString: empty.url }, join(folder, 'b')];
  const store = await createLocalStore(join(folder, 'h'));
  let puts = 0;
  store.put = async (_, content) => {
    for await (const part of content) if (part && ++puts === 1) throw new Error('no room');
  };
  const dataDir = join(folder, 'i');
  await expect(restore({ connection, store, dataDir }, from, await readManifest(from))).rejects.toThrow(
    'no room',
  );
  await expect(migrate(connection)).rejects.toThrow(/A restore into this database did not end/);
  expect(puts).toBeLessThan(report.objects.count);
  await empty.drop();
});

test('no object is deleted while a backup copies', async () => {
  const { databaseUrl } = server.service.ctx.config;
  const client = new pg.Client({ connectionString: databaseUrl! });
  await client.connect();
  await client.query('select pg_advisory_lock($1)', [DELETION_LOCK]);
  const record = await write('held');
  await remove(record);
  const { db } = server.service.ctx;
  const rows = () => db.selectFrom('objects').select('key').where('project_id', '=', record.appId).execute();
  // The clean-up of the deleted project's rows goes on, so rounds were there.
  await vi.waitFor(
    async () => {
      const left = await db
        .selectFrom('sources')
        .select('id')
        .where('project_id', '=', record.appId)
        .execute();
      expect(left).toEqual([]);
    },
    { timeout: 15_000 },
  );
  const [object] = await rows();
  expect(await server.service.ctx.store.head(object!.key)).not.toBeNull();
  await client.end();
  await vi.waitFor(async () => expect(await rows()).toEqual([]), { timeout: 15_000 });
});
