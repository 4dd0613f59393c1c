/** A database, a store in a folder and an import pool for tests of this domain: no service, no HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Bus } from '../bus.ts';
import type { Context } from '../context.ts';
import { openDatabase } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type { ProjectRow } from '../db/schema.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import { transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import type { Entry, Tree } from '../trees/tree.ts';
import { createLocalStore } from '../storage/local-store.ts';
import { ImportPool } from './import/pool.ts';
import { insertSource } from './insert-source.ts';
import { sha256Of } from '../trees/manifest.ts';
import { stageBlobs } from './stage.ts';
import type { SourceRow } from './store.ts';

export type TestContext = Pick<
  Context,
  'db' | 'directConnection' | 'store' | 'pool' | 'bus' | 'log' | 'config' | 'shutdown' | 'clock'
>;

const silent = { info: () => {}, warn: () => {}, debug: () => {}, error: () => {} } as unknown as Logger;
const deaf = { notify: () => {} } as unknown as Bus;

export async function openTestContext(
  cleanupGraceSeconds = 3600,
): Promise<{ ctx: TestContext; close: () => Promise<void> }> {
  const database = await createTestDatabase();
  const dir = await mkdtemp(join(tmpdir(), 'headrace-sources-'));
  const handle = openDatabase(database.connection);
  const pool = new ImportPool();
  const ctx: TestContext = {
    db: handle.db,
    directConnection: database.connection,
    store: await createLocalStore(dir),
    pool,
    bus: deaf,
    log: silent,
    config: { dataDir: dir, cleanupGraceSeconds, eventRetentionSeconds: 604_800 } as Context['config'],
    clock: { offsetMs: 0 },
    shutdown: new AbortController().signal,
  };
  return {
    ctx,
    async close() {
      await pool.close();
      await handle.close();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export async function makeProject(
  ctx: TestContext,
  kind: 'platform' | 'direct' = 'platform',
): Promise<ProjectRow> {
  const orgId = newId('org');
  await ctx.db.insertInto('organizations').values({ id: orgId, name: 'Test' }).execute();
  return ctx.db
    .insertInto('projects')
    .values({ org_id: orgId, id: newId('prj'), kind, name: 'Test', metadata: json({}) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function treeOf(files: Record<string, string | Buffer>): { tree: Tree; blobs: Map<string, Buffer> } {
  const blobs = new Map<string, Buffer>();
  const tree = new Map<string, Entry>();
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const sha256 = sha256Of(bytes);
    blobs.set(sha256, bytes);
    tree.set(path, { sha256, byteSize: bytes.length, executable: false });
  }
  return { tree, blobs };
}

/** Stages and stores a version of these files. */
export async function storeFiles(
  ctx: TestContext,
  project: ProjectRow,
  files: Record<string, string | Buffer>,
  parents: string[] = [],
): Promise<SourceRow> {
  const { tree, blobs } = treeOf(files);
  const staged = await stageBlobs(ctx, project, blobs);
  return transaction(ctx, (tx) =>
    insertSource(tx, project, {
      tree,
      parents,
      origin: 'edit',
      threadId: null,
      runId: null,
      message: null,
      staged,
    }),
  );
}
