/**
 * Everything that a project ever put into the store is removed after its deletion, whatever put it and
 * whatever was interrupted.
 */
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, newBench, ok, sh, until } from '../threads/threads.fixture.ts';
import { cleanUp } from '../teardown/cleanup.ts';
import { commitStaged } from './insert-source.ts';
import { abandon, stageBlobs } from './stage.ts';
import { treeOf } from './sources.fixture.ts';
import { verifyStorage } from './verify/verify-storage.ts';

let server: TestServer;
// The service's own cleanup finds nothing due: its grace is the hour.
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const ctxOf = () => server.service.ctx;
const projectOf = (id: string): Promise<ProjectRow> =>
  ctxOf().db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const keysOf = async (id: string) =>
  (await Array.fromAsync(ctxOf().store.list(`projects/${id}/`))).map((o) => o.key).sort();
const TABLES = ['objects', 'sources', 'packs', 'blobs', 'head_history', 'builds'] as const;

/** Rows of the project by table, those with none left out. */
async function rowsOf(id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES)
    counts[table] = (
      await sql`select from ${sql.table(table)} where project_id = ${id}`.execute(ctxOf().db)
    ).rows.length;
  counts.repair_candidates = (
    await sql`select from repair_candidates c join applies a on a.id = c.apply_id where a.project_id = ${id}`.execute(
      ctxOf().db,
    )
  ).rows.length;
  counts.build_logs = (
    await sql`select from build_logs where build_id not in (select id from builds)`.execute(ctxOf().db)
  ).rows.length;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

async function hourPasses(id: string): Promise<void> {
  const { db } = ctxOf();
  await sql`update projects set deleted_at = deleted_at - interval '1 hour' where id = ${id}`.execute(db);
  await sql`update objects set delete_after = delete_after - interval '1 hour', created_at = created_at - interval '1 hour' where project_id = ${id}`.execute(
    db,
  );
}

/** Uploads in every state that a killed process can leave. */
async function interrupt(project: ProjectRow): Promise<void> {
  const ctx = ctxOf();
  const stage = (content: string) => stageBlobs(ctx, project, treeOf({ f: content }).blobs);
  await ctx.db
    .insertInto('objects')
    .values({ org_id: project.org_id, key: `projects/${project.id}/registered`, project_id: project.id })
    .execute();
  await stage('put, and not committed');
  await abandon(ctx, project, await stage('abandoned'));
  // A repair's contents belong to the project without a source.
  const staged = await stage('of a repair');
  await transaction(ctx, (tx) => commitStaged(tx, project, staged));
}

/** A run's source, a build's artifact and log, and what an idle workspace was saved as. Needs a sandbox. */
async function work(): Promise<string> {
  const bench = await newBench(server);
  await bench.work(sh('echo run > run.txt'));
  const build = async (command: string) =>
    (
      await ok(
        server.call('POST', `${bench.at}/builds`, { command, outputDirectory: 'dist', timeoutSeconds: 60 }),
      )
    ).build.id as string;
  const ended = async (id: string) =>
    (await ok(server.call('GET', `${bench.app}/builds/${id}?waitSeconds=30`))).build.status as string;
  expect(await ended(await build('echo log; mkdir dist; echo x > dist/x'))).toBe('ready');
  const late = pack();
  late.entry({ name: '.headrace-patch.json' }, '{"delete":[]}');
  late.entry({ name: 'late.txt' }, 'late\n');
  late.finalize();
  await ctxOf().runner.patch(bench.threadId, await buffer(late));
  await ctxOf()
    .db.updateTable('threads')
    .set({ idle_expires_at: sql<Date>`now()` })
    .where('id', '=', bench.threadId)
    .execute();
  await until('the workspace to be saved', async () => (await bench.thread()).workspaceStatus === 'archived');
  return bench.appId;
}

test('a deleted project leaves no object and no row of what was stored, though every deletion fails at first', async ({
  onTestFinished,
}) => {
  const { ctx } = server.service;
  const hasSandbox = ctx.runnerStatus()?.ok === true;
  const id = hasSandbox ? await work() : (await newApp(server)).appId;
  const other = (await newApp(server)).appId;
  const project = await projectOf(id);
  await interrupt(project);
  const half = join(ctx.config.dataDir, 'objects', '.staging', 'half');
  await writeFile(half, 'what a killed process wrote');
  await utimes(half, Date.now() / 1000 - 7_200, Date.now() / 1000 - 7_200);

  // An import that is under way when its project is deleted, and ends after all of it was cleaned up.
  const held = Promise.withResolvers<void>();
  onTestFinished(() => held.resolve());
  const { store } = ctx;
  let isHeld = false;
  ctx.store = Object.assign(Object.create(store) as ObjectStore, {
    put: async (...args: Parameters<ObjectStore['put']>) => {
      isHeld = true;
      await held.promise;
      return store.put(...args);
    },
  });
  const late = server.call('POST', `/api/platform/v1/apps/${id}/sources`, {
    files: [{ path: 'late', content: 'under way' }],
  });
  await until('the import to put its pack', () => isHeld);
  await ok(server.call('DELETE', `/api/platform/v1/apps/${id}`, {}));
  ctx.store = store;
  // What nothing should bring about: kept after the deletion, and put without a registration.
  for (const name of ['kept', 'unregistered']) await store.put(`projects/${id}/${name}`, Buffer.from(name));
  await ctx.db
    .insertInto('objects')
    .values({ org_id: project.org_id, key: `projects/${id}/kept`, project_id: id, committed_at: new Date() })
    .execute();

  const [keys, rows] = [await keysOf(id), await rowsOf(id)];
  expect(keys.length, 'objects before the cleanup').toBeGreaterThanOrEqual(hasSandbox ? 8 : 5);
  expect(Object.keys(rows)).toEqual(
    hasSandbox
      ? ['objects', 'sources', 'packs', 'blobs', 'head_history', 'builds']
      : ['objects', 'sources', 'packs', 'blobs', 'head_history'],
  );
  await cleanUp(ctx);
  expect((await keysOf(id)).length).toBeGreaterThanOrEqual(keys.length - 1);

  await hourPasses(id);
  const failed = new Set<string>();
  // Also for the service's own cleanup, which may come in between.
  ctx.store = Object.assign(Object.create(store) as ObjectStore, {
    delete: async (key: string) => {
      if (failed.has(key)) return store.delete(key);
      failed.add(key);
      throw new StorageUnavailableError('away');
    },
  });
  await cleanUp(ctx);
  expect([await keysOf(id), Object.keys(await rowsOf(id))]).toEqual([
    expect.arrayContaining([expect.any(String)]),
    ['objects'],
  ]);
  for (let round = 0; round < 2; round++) {
    await hourPasses(id);
    await cleanUp(ctx);
  }
  expect([await keysOf(id), await rowsOf(id)]).toEqual([[], {}]);

  held.resolve();
  const { status, body } = await late;
  expect([status, body.error.code]).toEqual([404, 'app_not_found']);
  await cleanUp(ctx);
  expect([
    await keysOf(id),
    await rowsOf(id),
    await readdir(join(ctx.config.dataDir, 'objects', '.staging')),
  ]).toEqual([[], {}, []]);
  expect(await readdir(join(ctx.config.dataDir, 'objects', 'projects'))).toEqual([other]);
  expect(await verifyStorage(ctx, { projectId: null, concurrency: 2 })).toMatchObject({
    sound: true,
    projects: 1,
    warnings: 0,
  });
}, 60_000);
