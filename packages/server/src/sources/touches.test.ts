/** Each use of a source takes from the store and the database no more than it needs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { ProjectRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { createMergeEngine } from '../merge/pool.ts';
import type { MergeEngine, TreeRef } from '../merge/pool.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { packPatch } from '../workspaces/index.ts';
import { archiveOf, readBlob, readBlobs, tarOf } from './contents.ts';
import { insertSource } from './insert-source.ts';
import { sha256Of } from '../trees/manifest.ts';
import { buildPack, decodeIndex } from '../trees/pack.ts';
import { stageBlobs } from './stage.ts';
import { findManifests } from './store.ts';
import type { SourceRow } from './store.ts';
import { makeProject, openTestContext, storeFiles } from './sources.fixture.ts';
import type { TestContext } from './sources.fixture.ts';
import { loadTree } from './load-tree.ts';

const FILES = 10_000;
const EDITED = 'src/04999.ts';

const touched = { puts: [] as number[], ranges: [] as string[], rangeBytes: 0, whole: 0, rows: 0 };
const reset = (): void =>
  void Object.assign(touched, { puts: [], ranges: [], rangeBytes: 0, whole: 0, rows: 0 });

const COUNT: { [name in keyof ObjectStore]?: (...args: never[]) => void } = {
  put: (_key: string, content: Uint8Array) => touched.puts.push(content.length),
  getRange: (key: string, start: number, end: number) => {
    touched.ranges.push(`${key} ${start}-${end}`);
    touched.rangeBytes += end - start;
  },
  get: () => touched.whole++,
  getStream: () => touched.whole++,
  head: () => touched.whole++,
  list: () => touched.whole++,
};

/** The same store, counted. */
const counted = (store: ObjectStore): ObjectStore =>
  new Proxy(store, {
    get:
      (target, name: keyof ObjectStore) =>
      (...args: never[]) => {
        COUNT[name]?.(...args);
        return (target[name] as (...given: never[]) => unknown).apply(target, args);
      },
  });

const countRows: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    touched.rows += result.rows.length;
    return result;
  },
};

let ctx: TestContext;
let engine: MergeEngine;
let project: ProjectRow;
let close: () => Promise<void>;
beforeAll(async () => {
  const opened = await openTestContext();
  ctx = { ...opened.ctx, store: counted(opened.ctx.store), db: opened.ctx.db.withPlugin(countRows) };
  const dir = mkdtempSync(join(tmpdir(), 'headrace-touches-'));
  engine = createMergeEngine({ dir });
  close = async () => {
    await engine.close();
    await opened.close();
    rmSync(dir, { recursive: true, force: true });
  };
  project = await makeProject(ctx);
});
afterAll(() => close());
beforeEach(reset);

/** Some 130 files to a frame. */
const textOf = (i: number): string =>
  Array.from(
    { length: 12 },
    (_, line) => `line ${line} of file ${i}: ${sha256Of(Buffer.from(`${i} ${line}`))}\n`,
  ).join('');
const pathOf = (i: number): string => `src/${String(i).padStart(5, '0')}.ts`;
const ORIGINAL: Record<string, string> = Object.fromEntries(
  Array.from({ length: FILES }, (_, i) => [pathOf(i), textOf(i)]),
);
const edited = (changes: Record<string, string>): Record<string, string> => ({ ...ORIGINAL, ...changes });

/** The frames that hold these contents, as ranges. */
async function framesOf(contents: string[]): Promise<string[]> {
  const wanted = contents.map((content) => sha256Of(Buffer.from(content)));
  const packs = await ctx.db
    .selectFrom('packs')
    .select(['object_key', 'index'])
    .where('project_id', '=', project.id)
    .execute();
  const ranges = packs.flatMap(({ object_key: key, index }) => {
    const { frames, blobs } = decodeIndex(index);
    return wanted.flatMap((sha256) => {
      const place = blobs.get(sha256);
      const frame = place && frames[place.frame]!;
      return frame ? [`${key} ${frame.offset}-${frame.offset + frame.length}`] : [];
    });
  });
  return [...new Set(ranges)].sort();
}

const bytesOf = (ranges: string[]): number =>
  ranges.reduce((sum, range) => {
    const [start, end] = range.split(' ')[1]!.split('-').map(Number);
    return sum + end! - start!;
  }, 0);

const refOf = ({ id }: SourceRow): TreeRef => ({ id, load: () => loadTree(ctx, id) });
const read = (shas: string[]) => readBlobs(ctx, project.id, shas);
/** The reads of the store while `work` ran. */
async function rangesOf(work: () => Promise<unknown>): Promise<string[]> {
  reset();
  await work();
  expect(touched.whole).toBe(0);
  return touched.ranges.toSorted();
}

describe(`of ${FILES} files`, () => {
  let original: SourceRow;
  let near: SourceRow;
  const near3 = { [pathOf(7)]: `${ORIGINAL[pathOf(7)]}more\n`, [pathOf(4000)]: 'short\n', 'new.ts': 'new\n' };
  beforeAll(async () => {
    original = await storeFiles(ctx, project, ORIGINAL);
    near = await storeFiles(ctx, project, edited(near3), [original.id]);
  });

  test('an edit of one is one PUT of its compressed bytes, and one row of blobs', async () => {
    const content = `${ORIGINAL[EDITED]}edited\n`;
    const before = await ctx.db
      .selectFrom('blobs')
      .select((e) => e.fn.countAll<string>().as('n'))
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow();
    reset();
    const source = await storeFiles(ctx, project, edited({ [EDITED]: content }), [original.id]);
    const pack = buildPack([{ sha256: sha256Of(Buffer.from(content)), bytes: Buffer.from(content) }]);
    expect(touched.puts).toEqual([pack.bytes.length]);
    expect([touched.ranges, touched.whole]).toEqual([[], 0]);
    const after = await ctx.db
      .selectFrom('blobs')
      .select((e) => e.fn.countAll<string>().as('n'))
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow();
    expect(Number(after.n) - Number(before.n)).toBe(1);
    const { manifest } = await ctx.db
      .selectFrom('sources')
      .select('manifest')
      .where('id', '=', source.id)
      .executeTakeFirstOrThrow();
    expect(manifest.length).toBeLessThan(200);
  });

  test('an import of all with one edited is the same PUT', async () => {
    const content = `${ORIGINAL[EDITED]}imported\n`;
    const files = Object.entries(edited({ [EDITED]: content })).map(([path, text]) => ({
      path,
      content: text,
    }));
    const imported = await ctx.pool.parseImport(
      Buffer.from(JSON.stringify({ files, parentSourceId: original.id })),
      'application/json',
    );
    if (!('manifest' in imported)) throw new Error('refused');
    const { handle, manifest } = imported;
    const sha256s = [...manifest.values()].map((entry) => entry.sha256);
    const staged = await stageBlobs(ctx, project, { handle, sha256s });
    await transaction(ctx as Context, (tx) =>
      insertSource(tx, project, {
        tree: imported,
        parents: [original.id],
        origin: 'import',
        threadId: null,
        runId: null,
        message: null,
        staged,
      }),
    );
    expect(touched.puts).toEqual([
      buildPack([{ sha256: sha256Of(Buffer.from(content)), bytes: Buffer.from(content) }]).bytes.length,
    ]);
    expect([touched.ranges, touched.whole]).toEqual([[], 0]);
  });

  test('the same files again are no PUT', async () => {
    await storeFiles(ctx, project, ORIGINAL, [original.id]);
    expect([touched.puts, touched.ranges, touched.whole]).toEqual([[], [], 0]);
  });

  test('one file is one range of one frame, found by one row', async () => {
    const { sha256 } = (await loadTree(ctx, original.id)).get(EDITED)!;
    const ranges = await rangesOf(() => readBlob(ctx, project.id, sha256));
    expect(ranges).toEqual(await framesOf([ORIGINAL[EDITED]!]));
    reset();
    await readBlob(ctx, project.id, sha256);
    // Where its pack's index is known, as now, this row is its place.
    expect(touched.rows).toBe(1);
  });

  test('a diff reads what differs', async () => {
    const ranges = await rangesOf(async () => {
      const files = await engine.diff({ from: refOf(original), to: refOf(near), readBlobs: read });
      expect(files.map((f) => f.path)).toEqual(['new.ts', pathOf(7), pathOf(4000)]);
    });
    expect(ranges).toEqual(
      await framesOf([ORIGINAL[pathOf(7)]!, ORIGINAL[pathOf(4000)]!, ...Object.values(near3)]),
    );
  });

  test('a diff reads nothing a second time', async () => {
    expect(
      await rangesOf(() => engine.diff({ from: refOf(original), to: refOf(near), readBlobs: read })),
    ).toEqual([]);
  });

  test('a merge of independent edits reads nothing', async () => {
    const [head, draft] = [
      await storeFiles(ctx, project, edited({ [pathOf(1)]: 'head\n', 'head.ts': 'h\n' }), [original.id]),
      await storeFiles(ctx, project, edited({ [pathOf(2)]: 'draft\n', 'draft.ts': 'd\n' }), [original.id]),
    ];
    const ranges = await rangesOf(async () => {
      const merge = await engine.merge({
        base: refOf(original),
        head: refOf(head),
        draft: refOf(draft),
        readBlobs: read,
      });
      expect([merge.status, merge.changes.length]).toEqual(['clean', 2]);
    });
    expect(ranges).toEqual([]);
  });

  test('a merge of one file that both changed reads its three contents', async () => {
    const path = pathOf(9000);
    const rows = ORIGINAL[path]!.split('\n');
    const [byHead, byDraft] = [rows.with(3, 'by head').join('\n'), rows.with(10, 'by draft').join('\n')];
    const [head, draft] = [
      await storeFiles(ctx, project, edited({ [path]: byHead, [pathOf(3)]: 'other\n' }), [original.id]),
      await storeFiles(ctx, project, edited({ [path]: byDraft, [pathOf(4)]: 'other, too\n' }), [original.id]),
    ];
    const ranges = await rangesOf(async () => {
      const merge = await engine.merge({
        base: refOf(original),
        head: refOf(head),
        draft: refOf(draft),
        readBlobs: read,
      });
      expect([merge.status, [...merge.newBlobs.values()].map(String)]).toEqual([
        'clean',
        [rows.with(3, 'by head').with(10, 'by draft').join('\n')],
      ]);
    });
    expect(ranges).toEqual(await framesOf([ORIGINAL[path]!, byHead, byDraft]));
  });

  test('a preview reads what its merge does, and what the draft brings to the head', async () => {
    const path = pathOf(9500);
    const rows = ORIGINAL[path]!.split('\n');
    const [byHead, byDraft] = [rows.with(4, 'the head').join('\n'), rows.with(11, 'the draft').join('\n')];
    const [head, draft] = [
      await storeFiles(ctx, project, edited({ [path]: byHead, [pathOf(20)]: 'of the head\n' }), [
        original.id,
      ]),
      await storeFiles(ctx, project, edited({ [path]: byDraft, [pathOf(6000)]: 'of the draft\n' }), [
        original.id,
      ]),
    ];
    const ranges = await rangesOf(async () => {
      const preview = await engine.preview({
        base: refOf(original),
        head: refOf(head),
        draft: refOf(draft),
        readBlobs: read,
      });
      expect(preview.files.map((f) => [f.path, f.additions, f.deletions])).toEqual([
        [pathOf(6000), 1, 12],
        [path, 1, 1],
      ]);
    });
    // The merge comes before the diff: a frame that has something for both is read by each.
    expect([...new Set(ranges)]).toEqual(
      await framesOf([ORIGINAL[path]!, byHead, byDraft, ORIGINAL[pathOf(6000)]!, 'of the draft\n']),
    );
  });

  test('a preview of a conflict reads its three contents once', async () => {
    const path = pathOf(3500);
    const [byHead, byDraft] = ['the head\n', 'the draft\n'];
    const [head, draft] = [
      await storeFiles(ctx, project, edited({ [path]: byHead }), [original.id]),
      await storeFiles(ctx, project, edited({ [path]: byDraft }), [original.id]),
    ];
    const ranges = await rangesOf(async () => {
      const { conflicts } = await engine.preview({
        base: refOf(original),
        head: refOf(head),
        draft: refOf(draft),
        readBlobs: read,
      });
      expect(conflicts.map((c) => [c.path, c.hunks?.length])).toEqual([[path, 1]]);
    });
    expect(ranges).toEqual(await framesOf([ORIGINAL[path]!, byHead, byDraft]));
  });

  test('a workspace is brought from one to a near one by what differs', async () => {
    const [from, to] = [await loadTree(ctx, near.id), await loadTree(ctx, original.id)];
    expect(
      await rangesOf(() => packPatch(ctx as Context, { projectId: project.id, from: to, to: from })),
    ).toEqual(await framesOf(Object.values(near3)));
    expect(await rangesOf(() => packPatch(ctx as Context, { projectId: project.id, from, to }))).toEqual(
      await framesOf([ORIGINAL[pathOf(7)]!, ORIGINAL[pathOf(4000)]!]),
    );
    expect(
      await rangesOf(() => packPatch(ctx as Context, { projectId: project.id, from, to: from })),
    ).toEqual([]);
  });

  test('the files of a source are its own row, and those that it is a delta to as far as they are not known', async () => {
    const later = await storeFiles(ctx, project, edited({ ...near3, [pathOf(5)]: 'five\n' }), [near.id]);
    const rows = async (known: string[]): Promise<string[]> =>
      (await findManifests(ctx.db, later.id, known)).map((row) => row.id);
    expect(await rows([])).toEqual([original.id, near.id, later.id]);
    expect(await rows([near.id])).toEqual([later.id]);
  });

  test('a workspace or an archive is made by reading each frame once', async () => {
    const tree = await loadTree(ctx, near.id);
    const frames = await framesOf(Object.values(edited(near3)));
    for (const whole of [tarOf, archiveOf]) {
      const ranges = await rangesOf(() => buffer(whole(ctx, project.id, tree)));
      expect(touched.rangeBytes).toBe(bytesOf(frames));
      expect(ranges.length).toBeLessThan(frames.length / 5);
    }
  });

  test('so is that of files with other names, in another order, some of them twice', async () => {
    const shuffled = Object.values(ORIGINAL).map((text, i): [string, string] => [
      `renamed/${String((i * 7919) % FILES).padStart(5, '0')}`,
      text,
    ]);
    const source = await storeFiles(
      ctx,
      project,
      Object.fromEntries([
        ...shuffled,
        ...shuffled.slice(0, 100).map(([path, text]): [string, string] => [`copies/${path}`, text]),
      ]),
      [original.id],
    );
    const tree = await loadTree(ctx, source.id);
    await rangesOf(() => buffer(tarOf(ctx, project.id, tree)));
    expect(touched.rangeBytes).toBe(bytesOf(await framesOf(Object.values(ORIGINAL))));
  });
});
