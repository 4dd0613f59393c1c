import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../db/transaction.ts';
import { readBlobs, tarOf } from './contents.ts';
import { insertSource } from './insert-source.ts';
import { sourceSha256 } from '../trees/manifest.ts';
import { decodeIndex } from '../trees/pack.ts';
import { stageBlobs } from './stage.ts';
import { readTar } from '../trees/tar-reader.ts';
import { makeProject, openTestContext, storeFiles, treeOf } from './sources.fixture.ts';
import type { TestContext } from './sources.fixture.ts';
import { loadTree, sameTree } from './load-tree.ts';

let ctx: TestContext;
let close: () => Promise<void>;
beforeAll(async () => ({ ctx, close } = await openTestContext()));
afterAll(() => close());

const numbered = (count: number, changed: Record<string, string> = {}) => ({
  ...Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`f${String(i).padStart(4, '0')}`, `content ${i}\n`]),
  ),
  ...changed,
});

describe('a stored source', () => {
  test('has the hash, the sizes and the event of its files, in order of their paths', async () => {
    const project = await makeProject(ctx);
    const files = { b: '22', 'a/x': '1', 'a-b': '', 'a/y': '1' };
    const source = await storeFiles(ctx, project, files);
    const tree = await loadTree(ctx, source.id);
    expect([...tree.keys()]).toEqual(['a-b', 'a/x', 'a/y', 'b']);
    expect(source).toMatchObject({
      project_id: project.id,
      sha256: sourceSha256(tree),
      byte_size: 4,
      file_count: 4,
      origin: 'edit',
      manifest_base: null,
    });
    const events = await ctx.db
      .selectFrom('outbox')
      .select(['type', 'feed', 'data'])
      .where('project_id', '=', project.id)
      .execute();
    expect(events).toEqual([
      {
        type: 'platform.source.imported',
        feed: 'platform',
        data: { id: source.id, sha256: source.sha256, byteSize: 4, fileCount: 4 },
      },
    ]);
  });

  test('of a Direct project is published on the Direct feed', async () => {
    const project = await makeProject(ctx, 'direct');
    await storeFiles(ctx, project, { a: 'a' });
    expect(
      await ctx.db
        .selectFrom('outbox')
        .select(['type', 'feed'])
        .where('project_id', '=', project.id)
        .execute(),
    ).toEqual([{ type: 'platform.source.imported', feed: 'direct' }]);
  });

  test('keeps only contents that the project does not have', async () => {
    const project = await makeProject(ctx);
    await storeFiles(ctx, project, { a: 'one', b: 'two' });
    const again = await stageBlobs(ctx, project, treeOf({ x: 'two', y: 'one' }).blobs);
    expect(again).toBeNull();
    const { tree, blobs } = treeOf({ a: 'one', c: 'three' });
    const staged = await stageBlobs(ctx, project, blobs);
    expect([...decodeIndex(staged!.index).blobs.keys()]).toEqual([tree.get('c')!.sha256]);
    await storeFiles(ctx, project, { a: 'one', c: 'three' });
    const rows = await ctx.db
      .selectFrom('blobs')
      .select('pack_id')
      .where('project_id', '=', project.id)
      .execute();
    expect(rows.length).toBe(3);
    expect(new Set(rows.map((r) => r.pack_id)).size).toBe(2);
  });

  test('is refused, not stored, when a content was not staged', async () => {
    const project = await makeProject(ctx);
    const parent = await storeFiles(ctx, project, { a: 'one' });
    const { tree } = treeOf({ a: 'one', b: 'nowhere' });
    await expect(
      transaction(ctx, (tx) =>
        insertSource(tx, project, {
          tree,
          parents: [parent.id],
          origin: 'edit',
          threadId: null,
          runId: null,
          message: null,
          staged: null,
        }),
      ),
    ).rejects.toThrow('not staged');
  });

  test('is refused with 503 when what was staged was cleaned up before the commit', async () => {
    const project = await makeProject(ctx);
    const { tree, blobs } = treeOf({ a: 'late' });
    const staged = await stageBlobs(ctx, project, blobs);
    await ctx.db
      .updateTable('objects')
      .set({ delete_after: new Date() })
      .where('key', '=', staged!.objectKey)
      .execute();
    await expect(
      transaction(ctx, (tx) =>
        insertSource(tx, project, {
          tree,
          parents: [],
          origin: 'import',
          threadId: null,
          runId: null,
          message: null,
          staged,
        }),
      ),
    ).rejects.toMatchObject({ code: 'source_storage_unavailable', status: 503 });
  });
});

describe('manifests', () => {
  test('are deltas to the parent, and full again after fifty', async () => {
    const project = await makeProject(ctx);
    let parent = await storeFiles(ctx, project, numbered(300));
    const depths: number[] = [];
    const ids = [parent.id];
    for (let i = 0; i < 52; i++) {
      parent = await storeFiles(
        ctx,
        project,
        numbered(300, { [`f${String(i).padStart(4, '0')}`]: `version ${i}\n`, 'new/file': `${i}` }),
        [parent.id],
      );
      depths.push(parent.manifest_depth);
      ids.push(parent.id);
    }
    expect(depths).toEqual([...Array.from({ length: 50 }, (_, i) => i + 1), 0, 1]);
    const { manifest } = await ctx.db
      .selectFrom('sources')
      .select('manifest')
      .where('id', '=', ids[5]!)
      .executeTakeFirstOrThrow();
    expect(manifest.length).toBeLessThan(500);
  });

  test('of a chain are read back through a cache that knows none, some or all of them', async () => {
    const project = await makeProject(ctx);
    const first = await storeFiles(ctx, project, numbered(50));
    const versions = [{ id: first.id, files: numbered(50) }];
    for (let i = 0; i < 5; i++) {
      const { [`f000${i}`]: _gone, ...rest } = numbered(50, { [`f002${i}`]: 'changed\n' });
      versions.push({ id: (await storeFiles(ctx, project, rest, [versions.at(-1)!.id])).id, files: rest });
    }
    // 256 trees are kept: these push out all of the chain.
    const filler = await makeProject(ctx);
    const fillers = await Promise.all(Array.from({ length: 260 }, () => storeFiles(ctx, filler, {})));
    for (const { id } of fillers) await loadTree(ctx, id);
    for (const { id, files } of versions.toReversed())
      expect(sameTree(await loadTree(ctx, id), treeOf(files).tree)).toBe(true);
  });

  test('of an unknown source are 404', async () => {
    await expect(loadTree(ctx, 'src_01kaefgh00e1x9y6w2vq5r3t7n')).rejects.toMatchObject({
      code: 'source_not_found',
    });
  });
});

describe('contents', () => {
  test('come back from all packs that hold them', async () => {
    const project = await makeProject(ctx);
    let parent: string[] = [];
    const files: Record<string, string | Buffer> = {};
    for (let i = 0; i < 6; i++) {
      Object.assign(files, { [`big${i}`]: Buffer.alloc(200_000, `${i} line\n`), [`small${i}`]: `${i}` });
      parent = [(await storeFiles(ctx, project, files, parent)).id];
    }
    const { tree, blobs } = treeOf(files);
    expect(await readBlobs(ctx, project.id, blobs.keys())).toEqual(blobs);
    const read: Record<string, Buffer> = {};
    const two = new Map([...tree].filter(([path]) => path === 'small3' || path === 'big5'));
    for await (const entry of readTar(tarOf(ctx, project.id, two)))
      if (entry.kind === 'file') read[entry.path!] = await entry.read();
    expect(read).toEqual({ big5: files['big5'], small3: Buffer.from('3') });
  });

  test('of another project are not found, and that is a fault of the storage', async () => {
    const [project, other] = [await makeProject(ctx), await makeProject(ctx)];
    await storeFiles(ctx, other, { a: 'theirs' });
    await expect(readBlobs(ctx, project.id, treeOf({ a: 'theirs' }).blobs.keys())).rejects.toMatchObject({
      code: 'source_storage_unavailable',
    });
  });

  test('whose pack is gone are 503', async () => {
    const project = await makeProject(ctx);
    await storeFiles(ctx, project, { a: 'vanishing' });
    const { object_key: key } = await ctx.db
      .selectFrom('packs')
      .select('object_key')
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow();
    await ctx.store.delete(key);
    await expect(readBlobs(ctx, project.id, treeOf({ a: 'vanishing' }).blobs.keys())).rejects.toMatchObject({
      code: 'source_storage_unavailable',
      status: 503,
    });
  });
});
