import { BUNDLE_LIMITS } from '../../trees/limits.ts';
import { gzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ImportPool, type EditRequest, type ImportedSource, type Refusal } from './pool.ts';
import { sha256Of, sourceSha256 } from '../../trees/manifest.ts';
import { decodeIndex } from '../../trees/pack.ts';
import { tarFixture } from '../../trees/tar.fixture.ts';

const pool = new ImportPool();
afterAll(() => pool.close());
const others: ImportPool[] = [];
afterEach(() => Promise.all(others.splice(0).map((p) => p.close())));
const another = (options: ConstructorParameters<typeof ImportPool>[0]) => {
  const made = new ImportPool(options);
  others.push(made);
  return made;
};

const json = (body: unknown) => Buffer.from(JSON.stringify(body));
const bundle = (...paths: string[]) =>
  json({ files: paths.map((path) => ({ path, content: `content of ${path}` })) });
function good<T extends { ok: true }>(result: T | Refusal): T {
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result;
}
function whole(result: ImportedSource | EditRequest | Refusal): ImportedSource {
  const parsed = good(result);
  if (!('manifest' in parsed)) throw new Error('parsed as changes');
  return parsed;
}
const content = (path: string) => Buffer.from(`content of ${path}`);
const shaOf = (path: string) => sha256Of(content(path));

test('an import is parsed, then packed without what the project has', async () => {
  const source = whole(await pool.parseImport(bundle('b', 'a', 'c'), 'application/json'));
  expect([[...source.manifest.keys()], source.fileCount, source.byteSize, source.sourceSha256]).toEqual([
    ['a', 'b', 'c'],
    3,
    36,
    sourceSha256(source.manifest),
  ]);
  const { bytes, index } = await pool.packBlobs(source.handle, [shaOf('b')]);
  const { frames, blobs } = decodeIndex(index);
  expect([...blobs.keys()]).toEqual([shaOf('a'), shaOf('c')]);
  expect(zstdDecompressSync(bytes.subarray(0, frames[0]!.length)).toString()).toBe(
    'content of acontent of c',
  );
  await expect(pool.packBlobs(source.handle, [])).rejects.toMatchObject({ code: 'worker_lost' });
});

test('a tar.gz gives the same source', async () => {
  const [a, b] = [
    await pool.parseImport(bundle('a', 'd/b'), 'application/json'),
    await pool.parseImport(
      gzipSync(tarFixture(['d/b', 'a'].map((path) => ({ path, content: content(path) })))),
      { links: 'refuse' },
    ),
  ].map(whole) as [ImportedSource, ImportedSource];
  expect(b.sourceSha256).toBe(a.sourceSha256);
  for (const { handle } of [a, b]) pool.release(handle);
});

test('a refusal names its fields and keeps nothing', async () => {
  const small = another({ maxKeptBytes: 1 });
  for (let i = 0; i < 3; i++)
    expect(await small.parseImport(bundle('../a'), 'application/json')).toMatchObject({
      ok: false,
      code: 'invalid_bundle',
      fields: [{ path: '/files/0/path' }],
    });
});

test('an edit gives the next source and only the contents that it still has', async () => {
  const base = whole(await pool.parseImport(bundle('a', 'b'), 'application/json'));
  pool.release(base.handle);
  const edit = good(
    await pool.parseEdit(
      json({
        expectedSourceId: 'src_1',
        changes: [
          { path: 'n', content: 'new' },
          { path: 'c', renameFrom: 'b' },
        ],
      }),
      BUNDLE_LIMITS,
    ),
  );
  expect(edit.baseSourceId).toBe('src_1');
  const source = good(await pool.applyEdit(edit.handle, base.manifest, BUNDLE_LIMITS));
  expect([...source.manifest.keys()]).toEqual(['a', 'c', 'n']);
  expect([...decodeIndex((await pool.packBlobs(edit.handle, [])).index).blobs.keys()]).toEqual([
    sha256Of(Buffer.from('new')),
  ]);
});

test('contents are packed as given when their hashes are right', async () => {
  const blob = { sha256: shaOf('a'), bytes: content('a') };
  expect([...decodeIndex((await pool.packContents([blob])).index).blobs.keys()]).toEqual([shaOf('a')]);
  await expect(pool.packContents([{ ...blob, sha256: shaOf('b') }])).rejects.toMatchObject({
    code: 'content_mismatch',
  });
});

test('a body waits until there is room for its contents', async () => {
  const small = another({ maxKeptBytes: 100 });
  const first = good(await small.parseImport(bundle('a', 'b'), 'application/json'));
  let isDone = false;
  const second = small.parseImport(bundle('c', 'd'), 'application/json').finally(() => (isDone = true));
  await small.packContents([]);
  expect(isDone).toBe(false);
  small.release(first.handle);
  expect(whole(await second).fileCount).toBe(2);
});

test('contents that nobody asks for make room by themselves', async () => {
  const small = another({ maxKeptBytes: 100, keepMs: 20 });
  const first = good(await small.parseImport(bundle('a', 'b'), 'application/json'));
  expect((await small.parseImport(bundle('c', 'd'), 'application/json')).ok).toBe(true);
  await expect(small.packBlobs(first.handle, [])).rejects.toMatchObject({ code: 'worker_lost' });
});

test('small bodies go before large ones that wait', async () => {
  const order: string[] = [];
  const busy = pool.parseImport(bundle('first'), 'application/json');
  const rivals = [
    ['large', 2_000],
    ['middle', 500],
    ['small', 1],
  ] as const;
  const waiting = rivals.map(async ([name, n]) => {
    const source = good(
      await pool.parseImport(
        bundle(...Array.from({ length: n }, (_, i) => `${name}/${i}`)),
        'application/json',
      ),
    );
    order.push(name);
    pool.release(source.handle);
  });
  pool.release(good(await busy).handle);
  await Promise.all(waiting);
  expect(order).toEqual(['small', 'middle', 'large']);
});

test('a body that finds no room in time is refused', async () => {
  const impatient = another({ maxKeptBytes: 1, timeoutMs: 5_000 });
  await impatient.packContents([]);
  good(await impatient.parseImport(bundle('a'), 'application/json'));
  impatient.jobs.timeoutMs = 30;
  await expect(impatient.parseImport(bundle('b'), 'application/json')).rejects.toMatchObject({
    code: 'overloaded',
  });
});

test('a full queue refuses, and a job that takes too long ends with its worker', async () => {
  const slow = another({ timeoutMs: 1, maxQueue: 1 });
  const large = () => bundle(...Array.from({ length: 20_000 }, (_, i) => `f${i}`));
  const [running, waiting, refused] = await Promise.allSettled([
    slow.parseImport(large(), 'application/json'),
    slow.parseImport(large(), 'application/json'),
    slow.parseImport(large(), 'application/json'),
  ]);
  expect([running, waiting, refused].map((r) => r.status === 'rejected' && r.reason.code)).toEqual([
    'timed_out',
    expect.stringMatching(/timed_out|overloaded/),
    'overloaded',
  ]);
});

test('a lost worker fails its job and its contents; the next job runs in a new one', async () => {
  const brittle = another({});
  const kept = good(await brittle.parseImport(bundle('a'), 'application/json'));
  // Long enough that it is not done when the worker ends.
  const long = bundle('b'.repeat(8_000_000));
  const running = expect(brittle.parseImport(long, 'application/json')).rejects.toMatchObject({
    code: 'worker_lost',
  });
  await brittle.jobs.worker!.terminate();
  await running;
  await expect(brittle.packBlobs(kept.handle, [])).rejects.toMatchObject({ code: 'worker_lost' });
  expect(whole(await brittle.parseImport(bundle('c'), 'application/json')).fileCount).toBe(1);
});

test('a closed pool refuses', async () => {
  const closed = another({});
  const pending = expect(closed.parseImport(bundle('a'), 'application/json')).rejects.toMatchObject({
    code: 'closed',
  });
  await closed.close();
  await pending;
  await expect(closed.packContents([])).rejects.toMatchObject({ code: 'closed' });
});
