import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProjectRow } from '../../db/schema.ts';
import { StorageUnavailableError } from '../../storage/object-store.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { cleanUp } from '../../teardown/cleanup.ts';
import { sha256Of } from '../../trees/manifest.ts';
import { buildPack, decodeIndex, encodeIndex } from '../../trees/pack.ts';
import { repackProject } from '../repack/repack.job.ts';
import { makeProject, openTestContext, storeFiles } from '../sources.fixture.ts';
import type { TestContext } from '../sources.fixture.ts';
import { MAX_LISTED, newTally, verifyStorage } from './verify-storage.ts';
import type { Finding, StorageReport } from './verify-storage.ts';

let ctx: TestContext;
let close: () => Promise<void>;
beforeAll(async () => ({ ctx, close } = await openTestContext()));
afterAll(() => close());

const noise = (seed: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, i) => Math.imul(seed * 7919 + i, 2654435761) >>> 24));
const verify = (project: ProjectRow, store: Partial<ObjectStore> = {}) =>
  verifyStorage(
    { db: ctx.db, store: Object.assign(Object.create(ctx.store) as ObjectStore, store) },
    { projectId: project.id, concurrency: 2 },
  );
const packsOf = async (project: ProjectRow) =>
  ctx.db.selectFrom('packs').selectAll().where('project_id', '=', project.id).orderBy('id').execute();
const change = async (key: string, how: (bytes: Buffer) => Buffer) =>
  ctx.store.put(key, how(Buffer.from(await ctx.store.get(key))));
const flipped = (bytes: Buffer, at = bytes.length >>> 1) => {
  bytes[at]! ^= 0xff;
  return bytes;
};
const kindsOf = (report: StorageReport) => [...new Set(report.findings.map((f) => f.kind))].sort();
const find = (report: StorageReport, kind: Finding['kind']) => report.findings.find((f) => f.kind === kind)!;

/** Two versions of two packs; `big` alone fills a part. */
async function stored() {
  const project = await makeProject(ctx);
  const files = { 'a.txt': 'first\n', big: noise(1, 150_000), 'dir/c.txt': 'third\n' };
  const first = await storeFiles(ctx, project, files);
  const second = await storeFiles(ctx, project, { ...files, 'a.txt': 'changed\n' }, [first.id]);
  return { project, first, second, packs: await packsOf(project) };
}

test('sound storage is sound, and everything in it was read', async () => {
  const { project, packs } = await stored();
  const report = await verify(project);
  expect(report).toMatchObject({
    sound: true,
    projects: 1,
    sources: 2,
    packs: 2,
    contents: 4,
    hashedBytes: 150_000 + 6 + 6 + 8,
    damage: 0,
    warnings: 0,
    findings: [],
    warningFindings: [],
  });
  expect(report.bytes).toBe(packs.reduce((sum, p) => sum + p.byte_size, 0));
});

describe('of a pack', () => {
  test('a flipped byte costs the contents of its part, named with the newest files that need them', async () => {
    const {
      project,
      first,
      second,
      packs: [pack],
    } = await stored();
    await change(pack!.object_key, flipped);
    const report = await verify(project);
    expect(report).toMatchObject({
      sound: false,
      damage: 2,
      counts: { pack_damaged: 1, content_damaged: 1 },
      sources: 2,
      packs: 2,
    });
    expect(find(report, 'pack_damaged')).toEqual({
      kind: 'pack_damaged',
      message: expect.stringContaining("1 of the pack's 3 parts"),
      projectId: project.id,
      packId: pack!.id,
      objectKey: pack!.object_key,
    });
    expect(find(report, 'content_damaged')).toEqual({
      kind: 'content_damaged',
      message: expect.any(String),
      projectId: project.id,
      packId: pack!.id,
      sha256: sha256Of(noise(1, 150_000)),
      sourceId: second.id,
      path: 'big',
      neededBy: [
        { sourceId: second.id, path: 'big' },
        { sourceId: first.id, path: 'big' },
      ],
    });
  });

  test('truncation is told by its size, and costs what lay at the end', async () => {
    const {
      project,
      packs: [pack],
    } = await stored();
    await change(pack!.object_key, (bytes) => bytes.subarray(0, -10));
    const report = await verify(project);
    expect(kindsOf(report)).toEqual(['content_damaged', 'object_size', 'pack_damaged']);
    expect(find(report, 'object_size').message).toBe(
      `The object has ${pack!.byte_size - 10} bytes; ${pack!.byte_size} were stored.`,
    );
    expect(report.findings.filter((f) => f.kind === 'content_damaged').map((f) => f.path)).toEqual([
      'dir/c.txt',
    ]);
  });

  test('a missing object costs all of its contents; one that is only in an old version is named there', async () => {
    const {
      project,
      first,
      packs: [pack],
    } = await stored();
    await ctx.store.delete(pack!.object_key);
    const report = await verify(project);
    expect(report.counts).toEqual({ object_missing: 1, content_damaged: 3 });
    expect(report.findings.find((f) => f.path === 'a.txt')!.neededBy).toEqual([
      { sourceId: first.id, path: 'a.txt' },
    ]);
  });

  test('an object that cannot be read costs only the parts on the bad sector', async () => {
    const {
      project,
      packs: [pack],
    } = await stored();
    const frames = decodeIndex(pack!.index).frames;
    const bad = frames[1]!.offset + 10;
    const report = await verify(project, {
      getRange: async (key, start, end) => {
        if (key === pack!.object_key && start <= bad && bad < end) throw new StorageUnavailableError('EIO');
        return ctx.store.getRange(key, start, end);
      },
    });
    expect(report.counts).toEqual({ pack_damaged: 1, content_damaged: 1 });
    expect(find(report, 'content_damaged').path).toBe('big');
  });

  test('an index of other bytes, and one that cannot be read', async () => {
    const {
      project,
      packs: [pack],
    } = await stored();
    const set = (index: Buffer) =>
      ctx.db.updateTable('packs').set({ index }).where('id', '=', pack!.id).execute();
    await set(
      encodeIndex(buildPack([{ sha256: sha256Of(Buffer.from('other')), bytes: Buffer.from('other') }]).index),
    );
    expect((await verify(project)).counts).toEqual({ pack_index: 1, content_missing: 3 });
    await set(Buffer.from([9, 9]));
    expect(find(await verify(project), 'pack_index').message).toContain('pack index of version 9');
  });

  test("an index with two hashes exchanged: each content has the other's hash", async () => {
    const {
      project,
      packs: [pack],
    } = await stored();
    const { frames, blobs } = decodeIndex(pack!.index);
    const [[a, placeA], big, [c, placeC]] = [...blobs] as [[string, never], [string, never], [string, never]];
    await ctx.db
      .updateTable('packs')
      .set({ index: encodeIndex({ frames, blobs: new Map([[c, placeA], big, [a, placeC]]) }) })
      .where('id', '=', pack!.id)
      .execute();
    expect((await verify(project)).counts).toEqual({ content_damaged: 2 });
  });

  test('a registration that has it removed, and none', async () => {
    const {
      project,
      packs: [pack, second],
    } = await stored();
    await ctx.db
      .updateTable('objects')
      .set({ delete_after: new Date(Date.now() + 3_600_000) })
      .where('key', '=', pack!.object_key)
      .execute();
    await ctx.db.deleteFrom('objects').where('key', '=', second!.object_key).execute();
    const report = await verify(project);
    expect(report.findings.map((f) => [f.kind, f.packId, /not registered/.test(f.message)])).toEqual([
      ['object_unregistered', pack!.id, false],
      ['object_unregistered', second!.id, true],
    ]);
  });
});

describe('of rows', () => {
  test('a blob whose row points to a pack that has it not, or of another project', async () => {
    const {
      project,
      second,
      packs: [first],
    } = await stored();
    const other = (await stored()).packs[0]!;
    const point = (packId: string, text: string) =>
      ctx.db
        .updateTable('blobs')
        .set({ pack_id: packId })
        .where('project_id', '=', project.id)
        .where('sha256', '=', Buffer.from(sha256Of(Buffer.from(text)), 'hex'))
        .execute();
    await point(first!.id, 'changed\n');
    await point(other.id, 'third\n');
    const report = await verify(project);
    expect(report.counts).toEqual({ content_missing: 2 });
    expect(report.findings.map((f) => [f.path, f.sourceId]).sort()).toEqual([
      ['a.txt', second.id],
      ['dir/c.txt', second.id],
    ]);
  });

  test('a blob without a row', async () => {
    const { project } = await stored();
    await ctx.db
      .deleteFrom('blobs')
      .where('project_id', '=', project.id)
      .where('sha256', '=', Buffer.from(sha256Of(Buffer.from('third\n')), 'hex'))
      .execute();
    const report = await verify(project);
    expect(report.findings.map((f) => [f.kind, f.path, f.message])).toEqual([
      ['content_missing', 'dir/c.txt', 'It is in no pack of the project.'],
    ]);
  });

  test('a manifest that is cut off, and what builds on it', async () => {
    const { project, first } = await stored();
    await ctx.db
      .updateTable('sources')
      .set({ manifest: sql<Buffer>`substring(manifest from 1 for length(manifest) - 1)` })
      .where('id', '=', first.id)
      .execute();
    const report = await verify(project);
    expect(report.findings.filter((f) => f.sourceId === first.id).map((f) => [f.kind, f.message])).toEqual([
      ['manifest_damaged', 'Its manifest cannot be read: damaged manifest.'],
    ]);
    expect(report.sources).toBe(2);
  });

  test('a chain of manifests with a hole', async () => {
    const project = await makeProject(ctx);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, `${i}`]));
    const base = await storeFiles(ctx, project, many);
    const child = await storeFiles(ctx, project, { ...many, f1: 'new' }, [base.id]);
    await ctx.db.deleteFrom('sources').where('id', '=', base.id).execute();
    const report = await verify(project);
    expect(report.findings.map((f) => [f.kind, f.sourceId, f.message])).toEqual([
      ['manifest_damaged', child.id, `It builds on the manifest of ${base.id}, which is damaged or missing.`],
    ]);
  });

  test('a source that is not what its files give', async () => {
    const { project, second } = await stored();
    await ctx.db.updateTable('sources').set({ file_count: 4 }).where('id', '=', second.id).execute();
    expect(find(await verify(project), 'source_differs')).toMatchObject({
      sourceId: second.id,
      message: expect.stringMatching(
        /^Its files give 3 files, 150014 bytes, SHA-256 \w{64}; 4 files, 150014 bytes/,
      ),
    });
  });

  test('a head whose source is not stored', async () => {
    const { project } = await stored();
    await ctx.db
      .updateTable('projects')
      .set({ head_source_id: 'src_gone' })
      .where('id', '=', project.id)
      .execute();
    expect((await verify(project)).findings).toEqual([
      {
        kind: 'reference_missing',
        message: 'It is named by the head, and not stored.',
        projectId: project.id,
        sourceId: 'src_gone',
      },
    ]);
  });
});

describe('objects that nothing needs', () => {
  test('are warned of with their bytes; young ones and registered ones are not', async () => {
    const { project } = await stored();
    const old = (key: string) => ({ key, byteSize: 7, modifiedAt: new Date(Date.now() - 2 * 3_600_000) });
    const [orphan, young, gone] = ['orphan', 'young', 'gone'].map(
      (name) => `projects/${project.id}/${name}`,
    ) as [string, string, string];
    for (const key of [orphan, young]) await ctx.store.put(key, Buffer.from('1234567'));
    const listed = (await packsOf(project)).map((p) => old(p.object_key));
    const report = await verify(project, {
      list: async function* () {
        yield* [...listed, old(orphan), { ...old(young), modifiedAt: new Date() }, old(gone)];
      },
    });
    expect(report).toMatchObject({ sound: true, damage: 0, warnings: 1, warningBytes: 7 });
    expect(report.warningFindings).toEqual([
      {
        kind: 'object_orphaned',
        message: expect.any(String),
        projectId: project.id,
        objectKey: orphan,
        byteSize: 7,
      },
    ]);
  });

  test('are warned of when they are registered as kept, and missed when they are not there', async () => {
    const { project } = await stored();
    const key = `projects/${project.id}/unused`;
    await ctx.store.put(key, Buffer.from('1234567'));
    await ctx.db
      .insertInto('objects')
      .values({ org_id: project.org_id, key, project_id: project.id, committed_at: new Date() })
      .execute();
    expect((await verify(project)).warningFindings).toMatchObject([
      { kind: 'object_unused', objectKey: key, byteSize: 7 },
    ]);
    await ctx.store.delete(key);
    expect((await verify(project)).findings).toMatchObject([{ kind: 'object_missing', objectKey: key }]);
  });
});

test('a pack whose damaged contents were brought back in another is a warning', async () => {
  const {
    project,
    packs: [pack],
  } = await stored();
  await change(pack!.object_key, flipped);
  const lost = (await verify(project)).findings.flatMap((f) => f.sha256 ?? []);
  await ctx.db
    .deleteFrom('blobs')
    .where('project_id', '=', project.id)
    .where(
      'sha256',
      'in',
      lost.map((sha256) => Buffer.from(sha256, 'hex')),
    )
    .execute();
  expect((await verify(project)).counts).toEqual({ content_missing: 1 });
  await storeFiles(ctx, project, { again: noise(1, 150_000) });
  const report = await verify(project);
  expect(report).toMatchObject({ sound: true, counts: {}, findings: [], warnings: 1 });
  expect(report.warningFindings).toMatchObject([
    {
      kind: 'pack_damaged',
      packId: pack!.id,
      message: expect.stringContaining('Everything that is looked for in it is sound.'),
    },
  ]);
});

describe('beside a running service', () => {
  test.each([
    ['all of its rows', ['blobs', 'packs', 'sources', 'objects']],
    ['the first of its rows', ['blobs']],
  ] as const)(
    'a project that is deleted, with its objects and %s, while it is read is no damage',
    async (_, tables) => {
      const { project, packs } = await stored();
      let isDeleted = false;
      const report = await verify(project, {
        getRange: async (key, start, end) => {
          if (!isDeleted) {
            isDeleted = true;
            await ctx.db
              .updateTable('projects')
              .set({ deleted_at: new Date() })
              .where('id', '=', project.id)
              .execute();
            for (const { object_key: object } of packs) await ctx.store.delete(object);
            for (const table of tables)
              await ctx.db.deleteFrom(table).where('project_id', '=', project.id).execute();
          }
          return ctx.store.getRange(key, start, end);
        },
      });
      expect([isDeleted, report.sound, report.findings]).toEqual([true, true, []]);
    },
  );

  test('packs that are replaced by one while they are read are no damage, and the new one is read', async () => {
    const { project, packs } = await stored();
    const contents = [
      Buffer.from('first\n'),
      noise(1, 150_000),
      Buffer.from('third\n'),
      Buffer.from('changed\n'),
    ];
    let isReplaced = false;
    const replace = async (spoil: boolean) => {
      isReplaced = true;
      const { bytes, index } = buildPack(
        contents.map((content) => ({ sha256: sha256Of(content), bytes: content })),
      );
      const key = `projects/${project.id}/pack_whole`;
      await ctx.store.put(key, spoil ? flipped(bytes) : bytes);
      await ctx.db
        .insertInto('objects')
        .values({ org_id: project.org_id, key, project_id: project.id, committed_at: new Date() })
        .execute();
      await ctx.db
        .insertInto('packs')
        .values({
          org_id: project.org_id,
          id: 'pack_whole',
          project_id: project.id,
          object_key: key,
          byte_size: bytes.length,
          index: encodeIndex(index),
        })
        .execute();
      await ctx.db
        .updateTable('blobs')
        .set({ pack_id: 'pack_whole' })
        .where('project_id', '=', project.id)
        .execute();
      await ctx.db
        .deleteFrom('packs')
        .where(
          'id',
          'in',
          packs.map((p) => p.id),
        )
        .execute();
      for (const { object_key: old } of packs) await ctx.store.delete(old);
      await ctx.db
        .deleteFrom('objects')
        .where(
          'key',
          'in',
          packs.map((p) => p.object_key),
        )
        .execute();
    };
    const whileReplaced = (spoil: boolean) =>
      verify(project, {
        getRange: async (key, start, end) => {
          if (!isReplaced) await replace(spoil);
          return ctx.store.getRange(key, start, end);
        },
      });
    const report = await whileReplaced(true);
    expect(report.counts).toEqual({ pack_damaged: 1, content_damaged: 1 });
    expect(report.findings.map((f) => f.packId)).toEqual(['pack_whole', 'pack_whole']);
    await change(`projects/${project.id}/pack_whole`, flipped);
    expect((await verify(project)).sound).toBe(true);
  });

  test('repacking and the deletion of the old objects while it reads are no damage; the new pack is read, too', async () => {
    const project = await makeProject(ctx);
    let parent = await storeFiles(ctx, project, { a: 'a', b: noise(1, 5_000) });
    for (let version = 0; version < 40; version++)
      parent = await storeFiles(ctx, project, { a: `a${version}`, b: noise(1, 5_000) }, [parent.id]);
    const before = await packsOf(project);
    let isRepacked = false;
    const report = await verify(project, {
      getRange: async (key, start, end) => {
        if (!isRepacked) {
          isRepacked = true;
          await repackProject(ctx, {
            payload: { projectId: project.id },
            fence: async () => {},
            signal: new AbortController().signal,
          });
          await ctx.db
            .updateTable('objects')
            .set({ delete_after: new Date(0) })
            .where('project_id', '=', project.id)
            .where('delete_after', 'is not', null)
            .execute();
          await cleanUp(ctx);
        }
        return ctx.store.getRange(key, start, end);
      },
    });
    const after = await packsOf(project);
    expect([
      before.length,
      after.length < 10,
      await ctx.store.head(before.find((p) => !after.some((q) => q.id === p.id))!.object_key),
    ]).toEqual([41, true, null]);
    expect(report).toMatchObject({ sound: true, findings: [], sources: 41, warnings: 0 });
    expect(report.contents).toBeGreaterThanOrEqual(42);
  });

  test('a store that is away ends it', async () => {
    const { project } = await stored();
    const away = () => Promise.reject(new StorageUnavailableError('away'));
    await expect(verify(project, { head: away })).rejects.toThrow(StorageUnavailableError);
    await expect(verify(project, { getRange: away, head: away })).rejects.toThrow(StorageUnavailableError);
  });
});

test('lists a bounded number of findings and counts all, what is no content first', async () => {
  const project = await makeProject(ctx);
  const files = Object.fromEntries(Array.from({ length: MAX_LISTED + 20 }, (_, i) => [`f${i}`, `${i}`]));
  await storeFiles(ctx, project, files);
  await ctx.store.delete((await packsOf(project))[0]!.object_key);
  const report = await verify(project);
  expect(report).toMatchObject({
    damage: MAX_LISTED + 21,
    counts: { object_missing: 1, content_damaged: MAX_LISTED + 20 },
  });
  expect([report.findings.length, report.findings[0]!.kind]).toEqual([MAX_LISTED, 'object_missing']);
});

test('all projects at once, the damage of one beside the soundness of others', async () => {
  const own = await openTestContext();
  try {
    const projects = [];
    for (let i = 0; i < 7; i++) {
      const project = await makeProject(own.ctx);
      projects.push(project);
      await storeFiles(own.ctx, project, { a: `a${i}`, b: noise(i, 200_000) });
    }
    const pack = await own.ctx.db
      .selectFrom('packs')
      .select('object_key')
      .where('project_id', '=', projects[3]!.id)
      .executeTakeFirstOrThrow();
    await own.ctx.store.put(pack.object_key, flipped(await own.ctx.store.get(pack.object_key), 3));
    const tally = newTally();
    const report = await verifyStorage(own.ctx, { projectId: null, concurrency: 3, tally });
    expect(report).toMatchObject({ sound: false, projects: 7, sources: 7, packs: 7 });
    expect(new Set(report.findings.map((f) => f.projectId))).toEqual(new Set([projects[3]!.id]));
    expect(tally.bytes).toBe(tally.totalBytes);
  } finally {
    await own.close();
  }
});
