import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ProjectRow } from '../../db/schema.ts';
import { deleteProjectRow } from '../../teardown/index.ts';
import { transaction } from '../../db/transaction.ts';
import { LostJob } from '../../jobs/job.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { StorageUnavailableError } from '../../storage/object-store.ts';
import { cleanUp } from '../../teardown/cleanup.ts';
import { readBlobs, tarOf } from '../contents.ts';
import { sha256Of, sourceSha256 } from '../../trees/manifest.ts';
import { decodeIndex } from '../../trees/pack.ts';
import { enqueueRepacks } from './reconcile-repacks.ts';
import { choosePacks, MAX_PACK, MAX_REPACK, SOME_PACKS } from './plan.ts';
import { repackProject } from './repack.job.ts';
import { makeProject, openTestContext, storeFiles, treeOf } from '../sources.fixture.ts';
import type { TestContext } from '../sources.fixture.ts';
import { loadTree } from '../load-tree.ts';

let ctx: TestContext;
let close: () => Promise<void>;
beforeAll(async () => ({ ctx, close } = await openTestContext(600)));
afterAll(() => close());

/** Does not compress, so that packs grow with their contents. */
const noise = (seed: string, length = 2000) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 64) }, (_, i) =>
      createHash('sha512').update(`${seed} ${i}`).digest(),
    ),
  ).subarray(0, length);

/**
 * What a version holds: two files that change with each, one that is there from the first, one that comes
 * back.
 */
const filesOf = (version: number): Record<string, Buffer> => ({
  'a/always.txt': Buffer.from('always'),
  'a/changes.txt': Buffer.concat([noise('same', 3000), Buffer.from(`version ${version}`)]),
  'b/other.bin': noise(`other ${version}`, 300),
  ...(version % 3 === 0 ? { 'b/returns.txt': Buffer.from('returns') } : {}),
});

const VERSIONS = 33;

/** Stored side by side, so that packs hold contents that others hold too. */
async function projectWithVersions(count = VERSIONS): Promise<{ project: ProjectRow; ids: string[] }> {
  const project = await makeProject(ctx);
  const sources = await Promise.all(
    Array.from({ length: count }, (_, version) => storeFiles(ctx, project, filesOf(version))),
  );
  return { project, ids: sources.map((s) => s.id) };
}

/** Each version is a change of the one before. */
async function projectInOrder(count = VERSIONS): Promise<{ project: ProjectRow; ids: string[] }> {
  const project = await makeProject(ctx);
  const ids: string[] = [];
  for (let version = 0; version < count; version++)
    ids.push((await storeFiles(ctx, project, filesOf(version), ids.slice(-1))).id);
  return { project, ids };
}

const jobFor = (project: ProjectRow) => ({
  payload: { projectId: project.id },
  fence: async () => {},
  signal: new AbortController().signal,
});
const repack = (project: ProjectRow, changed: Partial<TestContext> = {}) =>
  repackProject({ ...ctx, ...changed }, jobFor(project));
const packsOf = (project: ProjectRow) =>
  ctx.db.selectFrom('packs').selectAll().where('project_id', '=', project.id).orderBy('id').execute();
const objectsOf = (project: ProjectRow) =>
  ctx.db.selectFrom('objects').selectAll().where('project_id', '=', project.id).orderBy('key').execute();
const blobsOf = (project: ProjectRow) =>
  ctx.db.selectFrom('blobs').selectAll().where('project_id', '=', project.id).orderBy('sha256').execute();
const rowsOf = async (project: ProjectRow) => ({
  packs: await packsOf(project),
  blobs: await blobsOf(project),
});
/** The store with some of its methods replaced. */
const storeWith = (changed: Partial<ObjectStore>): ObjectStore =>
  Object.assign(Object.create(ctx.store) as ObjectStore, changed);
const makeDue = (project: ProjectRow) =>
  ctx.db
    .updateTable('objects')
    .set({ delete_after: sql<Date>`now()` })
    .where('project_id', '=', project.id)
    .where('delete_after', 'is not', null)
    .execute();
const makeOld = (project: ProjectRow) =>
  ctx.db
    .updateTable('objects')
    .set({ created_at: sql<Date>`now() - interval '2 hours'` })
    .where('project_id', '=', project.id)
    .execute();

async function keysInStore(project: ProjectRow): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of ctx.store.list(`projects/${project.id}/`)) keys.push(key);
  return keys.toSorted();
}

/** Reads every content of every version, and hashes it on the way. */
async function expectWhole({ project, ids }: { project: ProjectRow; ids: string[] }): Promise<void> {
  for (const [version, id] of ids.entries()) {
    const [{ tree, blobs }, stored] = [treeOf(filesOf(version)), await loadTree(ctx, id)];
    expect(sourceSha256(stored)).toBe(
      sourceSha256(new Map([...tree].toSorted(([a], [b]) => (a < b ? -1 : 1)))),
    );
    expect(await readBlobs(ctx, project.id, blobs.keys())).toEqual(blobs);
  }
}

/** Each content's row names a pack of the project that has it. */
async function expectPlaced(project: ProjectRow): Promise<void> {
  const packs = new Map((await packsOf(project)).map((p) => [p.id, decodeIndex(p.index)]));
  for (const { sha256, pack_id: packId } of await blobsOf(project))
    expect(packs.get(packId)?.blobs.has(sha256.toString('hex'))).toBe(true);
}

describe('the choice', () => {
  const pack = (byteSize: number, rawBytes = byteSize) => ({ byteSize, rawBytes });
  const sizes = (packs: { byteSize: number }[]) =>
    choosePacks(packs.map((p) => pack(p.byteSize))).map((p) => p.byteSize);
  const equal = (count: number, byteSize = 100) => Array.from({ length: count }, () => pack(byteSize));

  test('takes a pack that is at most twice as large as all smaller ones together, and those', () => {
    expect(sizes([...equal(10), pack(2000), pack(6001)])).toEqual(
      [...equal(10), pack(2000)].map((p) => p.byteSize),
    );
    expect(sizes([...equal(10), pack(2001), pack(6003)])).toEqual(equal(10).map((p) => p.byteSize));
    expect(sizes([...equal(10), pack(2001), pack(6002)]).length).toBe(12);
  });

  test('takes nothing where few fit together', () => {
    expect(choosePacks(equal(7))).toEqual([]);
    expect(choosePacks([])).toEqual([]);
    expect(choosePacks(Array.from({ length: 12 }, (_, i) => pack(4 ** i)))).toEqual([]);
  });

  test('leaves out what is too much after decompression, and of the rest as much as is', () => {
    const [{ rawBytes: one }, { rawBytes: all }] = [MAX_PACK, MAX_REPACK];
    expect(choosePacks([...equal(10), pack(100, one + 1), ...equal(10)]).length).toBe(20);
    const chosen = choosePacks(Array.from({ length: 30 }, () => pack(100, one)));
    expect(chosen.reduce((sum, p) => sum + p.rawBytes, 0)).toBe(all);
    expect(chosen.length).toBe(SOME_PACKS);
  });
});

describe('repacking', () => {
  test('makes many packs few; every version stays as it is, and the old objects go after the grace', async () => {
    const versions = await projectWithVersions();
    const { project } = versions;
    const before = await packsOf(project);
    await repack(project);
    const after = await packsOf(project);
    expect([before.length, after.length]).toEqual([VERSIONS, 1]);
    expect(after[0]!.byte_size).toBeLessThan(before.reduce((sum, p) => sum + p.byte_size, 0) / 3);
    await expectPlaced(project);
    const old = (await objectsOf(project)).filter((o) => o.delete_after !== null);
    expect(old.map((o) => o.key)).toEqual(before.map((p) => p.object_key).toSorted());
    for (const { delete_after: at } of old) expect(at!.getTime() - Date.now()).toBeGreaterThan(550_000);
    await cleanUp(ctx);
    expect((await keysInStore(project)).length).toBe(VERSIONS + 1);
    await makeDue(project);
    await cleanUp(ctx);
    expect(await keysInStore(project)).toEqual([after[0]!.object_key]);
    await expectWhole(versions);
  });

  test('leaves a project with few packs alone', async () => {
    const { project } = await projectWithVersions(31);
    const before = await rowsOf(project);
    await repack(project);
    expect(await rowsOf(project)).toEqual(before);
  });

  test('puts versions of a path side by side, newest first', async () => {
    const { project } = await projectInOrder();
    await repack(project);
    const [pack] = await packsOf(project);
    const order = [...decodeIndex(pack!.index).blobs.keys()];
    const versions = Array.from({ length: VERSIONS }, (_, i) =>
      sha256Of(filesOf(VERSIONS - 1 - i)['a/changes.txt']!),
    );
    const first = order.indexOf(versions[0]!);
    expect(order.slice(first, first + VERSIONS)).toEqual(versions);
  });

  test('takes over once what several packs hold', async () => {
    const { project } = await projectWithVersions();
    const inPacks = (await packsOf(project)).flatMap((p) => [...decodeIndex(p.index).blobs.keys()]);
    await repack(project);
    const [pack] = await packsOf(project);
    expect(inPacks.length).toBeGreaterThan(decodeIndex(pack!.index).blobs.size);
    expect([...decodeIndex(pack!.index).blobs.keys()].toSorted()).toEqual(
      (await blobsOf(project)).map((b) => b.sha256.toString('hex')),
    );
  });

  test('contents that no source names keep their order, behind the others', async () => {
    const versions = await projectWithVersions();
    await ctx.db
      .updateTable('sources')
      .set({
        manifest: (
          await ctx.db
            .selectFrom('sources')
            .select('manifest')
            .where('id', '=', versions.ids[0]!)
            .executeTakeFirstOrThrow()
        ).manifest,
        manifest_base: null,
      })
      .where('project_id', '=', versions.project.id)
      .execute();
    await repack(versions.project);
    expect((await packsOf(versions.project)).length).toBe(1);
    await expectPlaced(versions.project);
    for (let version = 0; version < VERSIONS; version++)
      await readBlobs(ctx, versions.project.id, treeOf(filesOf(version)).blobs.keys());
  });

  test('goes on with what came since, again and again', async () => {
    const { project, ids } = await projectInOrder(1);
    for (let version = 1; version < 80; version++) {
      ids.push((await storeFiles(ctx, project, filesOf(version), ids.slice(-1))).id);
      if (version % 10 === 9) await repack(project);
    }
    expect((await packsOf(project)).length).toBeLessThan(32 + 10);
    await expectPlaced(project);
    await expectWhole({ project, ids });
  });
});

describe('what fails', () => {
  const cases: [step: string, changed: () => Partial<TestContext>][] = [
    [
      'reading an old pack',
      () => ({ store: storeWith({ get: () => Promise.reject(new StorageUnavailableError('away')) }) }),
    ],
    [
      'the put',
      () => ({ store: storeWith({ put: () => Promise.reject(new StorageUnavailableError('away')) }) }),
    ],
    [
      'the put, after the store has the object',
      () => ({
        store: storeWith({
          put: async (key, content) => {
            await ctx.store.put(key, content);
            throw new StorageUnavailableError('no answer');
          },
        }),
      }),
    ],
    [
      'reading the new pack back',
      () => {
        const put = vi.fn((key: string, content: Uint8Array) => ctx.store.put(key, content));
        return {
          store: storeWith({
            put,
            get: (key) =>
              put.mock.calls.some(([at]) => at === key)
                ? Promise.reject(new StorageUnavailableError('away'))
                : ctx.store.get(key),
          }),
        };
      },
    ],
  ];

  test.each(cases)(
    'at %s: everything stays, nothing is left, and the next attempt does it',
    async (_step, changed) => {
      const versions = await projectWithVersions();
      const { project } = versions;
      const before = await rowsOf(project);
      await expect(repack(project, changed())).rejects.toThrow();
      expect(await rowsOf(project)).toEqual(before);
      await makeDue(project);
      await cleanUp(ctx);
      expect(await keysInStore(project)).toEqual(before.packs.map((p) => p.object_key).toSorted());
      await repack(project);
      expect((await packsOf(project)).length).toBe(1);
      await expectWhole(versions);
    },
  );

  const never = () => new Promise<never>(() => {});
  const deaths: [step: string, store: (reached: () => void) => ObjectStore][] = [
    [
      'while old packs are read',
      (reached) =>
        storeWith({
          get: () => {
            reached();
            return never();
          },
        }),
    ],
    [
      'before the put',
      (reached) =>
        storeWith({
          put: () => {
            reached();
            return never();
          },
        }),
    ],
    [
      'after the put',
      (reached) =>
        storeWith({
          put: async (key, content) => {
            await ctx.store.put(key, content);
            reached();
            return never();
          },
        }),
    ],
    [
      'while the new pack is read back',
      (reached) => {
        const put = new Set<string>();
        return storeWith({
          put: async (key, content) => {
            await ctx.store.put(key, content);
            put.add(key);
          },
          get: (key) => {
            if (!put.has(key)) return ctx.store.get(key);
            reached();
            return never();
          },
        });
      },
    ],
  ];

  test.each(deaths)(
    'a process that ends %s: everything stays, what it put goes, and the next one does it',
    async (_step, store) => {
      const versions = await projectWithVersions();
      const { project } = versions;
      const before = await rowsOf(project);
      await new Promise<void>((reached, failed) => {
        void repack(project, { store: store(reached) }).catch(failed);
      });
      expect(await rowsOf(project)).toEqual(before);
      await makeOld(project);
      await cleanUp(ctx);
      expect(await keysInStore(project)).toEqual(before.packs.map((p) => p.object_key).toSorted());
      await repack(project);
      expect((await packsOf(project)).length).toBe(1);
      await expectWhole(versions);
    },
  );

  test('a job that was taken over changes nothing', async () => {
    const { project } = await projectWithVersions();
    const before = await rowsOf(project);
    await expect(
      repackProject(ctx, { ...jobFor(project), fence: () => Promise.reject(new LostJob('taken over')) }),
    ).rejects.toThrow(LostJob);
    expect(await rowsOf(project)).toEqual(before);
  });

  test('a worker that stops ends the thread and changes nothing', async () => {
    const { project } = await projectWithVersions();
    const before = await rowsOf(project);
    const abort = new AbortController();
    const store = storeWith({
      get: async (key) => {
        const bytes = await ctx.store.get(key);
        abort.abort();
        return bytes;
      },
    });
    await expect(
      repackProject({ ...ctx, store }, { ...jobFor(project), signal: abort.signal }),
    ).rejects.toThrow('abort');
    expect(await rowsOf(project)).toEqual(before);
  });

  const damages: [what: string, store: (key: string) => ObjectStore][] = [
    [
      'an old pack is damaged',
      (damaged) =>
        storeWith({
          get: async (key) => {
            const bytes = await ctx.store.get(key);
            if (key === damaged) bytes[bytes.length >> 1]! ^= 1;
            return bytes;
          },
        }),
    ],
    [
      'an old pack is missing',
      (missing) => storeWith({ get: async (key) => ctx.store.get(key === missing ? `${key}.gone` : key) }),
    ],
    [
      'the new pack comes back damaged',
      () => {
        const put = new Set<string>();
        return storeWith({
          put: async (key, content) => {
            put.add(key);
            await ctx.store.put(key, content);
          },
          get: async (key) => {
            const bytes = await ctx.store.get(key);
            if (put.has(key)) bytes[bytes.length >> 1]! ^= 1;
            return bytes;
          },
        });
      },
    ],
  ];

  test.each(damages)('%s: it is said loudly, and everything stays', async (_what, store) => {
    const { project } = await projectWithVersions();
    const before = await rowsOf(project);
    const error = vi.fn();
    await repack(project, { store: store(before.packs[20]!.object_key), log: { ...ctx.log, error } });
    expect(error).toHaveBeenCalledTimes(1);
    expect(await rowsOf(project)).toEqual(before);
    expect(
      (await objectsOf(project)).filter((o) => o.committed_at === null && o.delete_after === null),
    ).toEqual([]);
  });

  test('a content with valid frames but another hash is found, too', async () => {
    const { project } = await projectWithVersions();
    const [first, second] = await packsOf(project);
    // The bytes of one pack under the index of another: frames of the same sizes, other contents.
    const store = storeWith({
      get: (key) => ctx.store.get(key === second!.object_key ? first!.object_key : key),
    });
    const error = vi.fn();
    await repack(project, { store, log: { ...ctx.log, error } });
    expect(error).toHaveBeenCalledTimes(1);
    expect((await packsOf(project)).length).toBe(VERSIONS);
  });
});

describe('beside others', () => {
  test('two workers at once: one of them does it, the other leaves nothing', async () => {
    const versions = await projectWithVersions();
    const { project } = versions;
    await Promise.all([repack(project), repack(project)]);
    expect((await packsOf(project)).length).toBe(1);
    await makeDue(project);
    await cleanUp(ctx);
    expect(await keysInStore(project)).toEqual((await packsOf(project)).map((p) => p.object_key));
    await expectWhole(versions);
  });

  test('versions that are stored meanwhile stay out of it, and whole', async () => {
    const versions = await projectWithVersions();
    const { project, ids } = versions;
    const store = storeWith({
      put: async (key, content) => {
        await ctx.store.put(key, content);
        for (let version = VERSIONS; version < VERSIONS + 3; version++)
          ids.push((await storeFiles(ctx, project, filesOf(version), ids.slice(-1))).id);
      },
    });
    await repack(project, { store });
    expect((await packsOf(project)).length).toBe(4);
    await expectPlaced(project);
    await expectWhole(versions);
  });

  test('a project that is deleted meanwhile keeps nothing after the grace', async () => {
    const { project } = await projectWithVersions();
    const store = storeWith({
      put: async (key, content) => {
        await transaction(ctx, (tx) => deleteProjectRow(tx, project, 600));
        await ctx.store.put(key, content);
      },
    });
    await repack(project, { store }).catch(() => null);
    expect((await packsOf(project)).length).toBe(VERSIONS);
    await makeDue(project);
    await cleanUp(ctx);
    expect([await keysInStore(project), await objectsOf(project)]).toEqual([[], []]);
  });

  test('a project that is deleted after it keeps neither new nor old objects after the grace', async () => {
    const { project } = await projectWithVersions();
    await repack(project);
    await transaction(ctx, (tx) => deleteProjectRow(tx, project, 600));
    await makeDue(project);
    await ctx.db
      .updateTable('projects')
      .set({ deleted_at: sql<Date>`now() - interval '1 hour'` })
      .where('id', '=', project.id)
      .execute();
    await cleanUp(ctx);
    expect([await keysInStore(project), await objectsOf(project), await rowsOf(project)]).toEqual([
      [],
      [],
      { packs: [], blobs: [] },
    ]);
  });

  test('a reader that found the old packs finds the new one, also when their objects are gone', async () => {
    const { project, ids } = await projectWithVersions();
    const tree = await loadTree(ctx, ids.at(-1)!);
    let reads = 0;
    // At the first range the packs are merged and the old objects deleted under the reader.
    const store = storeWith({
      getRange: async (key, start, end) => {
        if (reads++ === 0) {
          await repack(project);
          await makeDue(project);
          await cleanUp(ctx);
        }
        return ctx.store.getRange(key, start, end);
      },
    });
    const { blobs } = treeOf(filesOf(VERSIONS - 1));
    expect(await readBlobs({ db: ctx.db, store }, project.id, blobs.keys())).toEqual(blobs);
    expect((await packsOf(project)).length).toBe(1);
    expect(
      (await tarOf({ db: ctx.db, store: ctx.store }, project.id, tree).toArray()).length,
    ).toBeGreaterThan(0);
  });

  test('a reader in the midst of an archive goes on in the new pack', async () => {
    const { project, ids } = await projectInOrder();
    const tree = await loadTree(ctx, ids.at(-1)!);
    const expected = Buffer.concat(await tarOf(ctx, project.id, tree).toArray());
    let reads = 0;
    const store = storeWith({
      getRange: async (key, start, end) => {
        if (++reads === 2) {
          await repack(project);
          await makeDue(project);
          await cleanUp(ctx);
        }
        return ctx.store.getRange(key, start, end);
      },
    });
    expect(
      Buffer.concat(await tarOf({ db: ctx.db, store }, project.id, tree).toArray()).equals(expected),
    ).toBe(true);
    expect(reads).toBeGreaterThan(2);
  });

  test('a pack that goes between the two looks of a reader is looked for again', async () => {
    const { project } = await projectWithVersions();
    const { blobs } = treeOf(filesOf(3));
    let isMerged = false;
    const db = new Proxy(ctx.db, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as unknown;
        if (name !== 'selectFrom' || isMerged)
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        return (table: never) => ({
          select: (columns: never) => ({
            where: (...on: [never, never, never]) => ({
              execute: async () => {
                isMerged = true;
                await repack(project);
                return ctx.db
                  .selectFrom(table)
                  .select(columns)
                  .where(...on)
                  .execute();
              },
            }),
          }),
        });
      },
    });
    expect(await readBlobs({ db, store: ctx.store }, project.id, blobs.keys())).toEqual(blobs);
    expect(isMerged).toBe(true);
  });

  test('readers, writers, a cleaner and two workers at once: nobody fails, nothing is lost', async () => {
    const versions = await projectInOrder();
    const { project, ids } = versions;
    const last = VERSIONS + 40;
    const done = new AbortController();
    let read = 0;
    const during = async (work: () => Promise<unknown>) => {
      while (!done.signal.aborted) await work();
    };
    const anyVersion = () => Math.floor(Math.random() * ids.length);
    const write = async () => {
      for (let version = VERSIONS; version < last; version++)
        ids.push((await storeFiles(ctx, project, filesOf(version), ids.slice(-1))).id);
      done.abort();
    };
    await Promise.all([
      write(),
      during(() => repack(project)),
      during(() => repack(project)),
      during(async () => {
        await makeDue(project);
        await cleanUp(ctx);
      }),
      during(async () => {
        const { blobs } = treeOf(filesOf(anyVersion()));
        expect(await readBlobs(ctx, project.id, blobs.keys())).toEqual(blobs);
        read++;
      }),
      during(async () => {
        await tarOf(ctx, project.id, await loadTree(ctx, ids[anyVersion()]!)).toArray();
      }),
    ]);
    expect(read).toBeGreaterThan(0);
    expect((await packsOf(project)).length).toBeLessThan(last);
    await expectPlaced(project);
    await expectWhole(versions);
    await makeDue(project);
    await cleanUp(ctx);
    expect(await keysInStore(project)).toEqual((await packsOf(project)).map((p) => p.object_key).toSorted());
  });

  test('contents that are really lost are told after a few looks', async () => {
    const { project } = await projectWithVersions(1);
    for (const key of await keysInStore(project)) await ctx.store.delete(key);
    await expect(readBlobs(ctx, project.id, treeOf(filesOf(0)).blobs.keys())).rejects.toMatchObject({
      code: 'source_storage_unavailable',
    });
    await expect(tarOf(ctx, project.id, treeOf(filesOf(0)).tree).toArray()).rejects.toMatchObject({
      code: 'source_storage_unavailable',
    });
  });
});

describe('the reconciler', () => {
  const jobsOf = (project: ProjectRow) =>
    ctx.db.selectFrom('jobs').selectAll().where('key', '=', `repack:${project.id}`).execute();

  test('enqueues projects with many small packs, once, and again only with a new pack', async () => {
    const [{ project: many, ids }, { project: few }] = [
      await projectWithVersions(32),
      await projectWithVersions(31),
    ];
    const known = await enqueueRepacks(ctx, null);
    await enqueueRepacks(ctx, known);
    expect((await jobsOf(many)).map((j) => [j.kind, j.payload])).toEqual([
      ['source.repack', { projectId: many.id }],
    ]);
    expect(await jobsOf(few)).toEqual([]);
    await ctx.db.deleteFrom('jobs').where('key', '=', `repack:${many.id}`).execute();
    await enqueueRepacks(ctx, known);
    expect(await jobsOf(many)).toEqual([]);
    await storeFiles(ctx, many, filesOf(32), ids.slice(-1));
    await enqueueRepacks(ctx, known);
    expect((await jobsOf(many)).length).toBe(1);
  });
});
