import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { ProjectRow } from '../db/schema.ts';
import { openTestContext, makeProject } from '../sources/sources.fixture.ts';
import { loadTree, readBlobs } from '../sources/index.ts';
import type { SourceRow } from '../sources/index.ts';
import { commitSource, RepositoryTooLarge } from './commit-source.ts';
import { makeDataFolder, openUpstream, Upstream } from './commits.fixture.ts';
import { readCommit } from './read-commit.ts';

const folder = makeDataFolder();
let base: Awaited<ReturnType<typeof openTestContext>>;
let ctx: Context;
let project: ProjectRow;
let upstream: Upstream;
const puts: number[] = [];

beforeAll(async () => {
  base = await openTestContext();
  const { store } = base.ctx;
  ctx = {
    ...base.ctx,
    store: {
      ...store,
      getRange: store.getRange.bind(store),
      put: (key: string, bytes: Uint8Array) => {
        puts.push(bytes.length);
        return store.put(key, bytes);
      },
    },
    config: {
      ...base.ctx.config,
      ...folder.ctx.config,
      repositoryLimits: { files: 20, bytes: 40 * 1024 * 1024, fileBytes: 34 * 1024 * 1024 },
    },
  } as Context;
});
afterAll(async () => {
  await base.close();
  folder.remove();
});
beforeEach(async () => {
  upstream = new Upstream();
  project = await makeProject(base.ctx, 'direct');
  puts.length = 0;
});
afterEach(() => upstream.remove());

const sourceOf = (commitSha: string, repository = openUpstream(upstream), branch = 'main') =>
  commitSource(ctx, project, repository, { commitSha, branch });

async function filesOf(source: SourceRow): Promise<Record<string, string>> {
  const tree = await loadTree(ctx, source.id);
  const contents = await readBlobs(
    ctx,
    project.id,
    [...tree.values()].map(({ sha256 }) => sha256),
  );
  return Object.fromEntries(
    [...tree].map(([path, { sha256, executable }]) => [
      path,
      `${executable ? '+x ' : ''}${contents.get(sha256)!.toString('latin1')}`,
    ]),
  );
}

const eventTypes = async () =>
  (
    await ctx.db
      .selectFrom('outbox')
      .select('type')
      .where('project_id', '=', project.id)
      .orderBy('id')
      .execute()
  ).map(({ type }) => type);

test('a source has the bytes of the blobs, and names its commit', async () => {
  upstream.write({ '.gitattributes': '* text=auto eol=crlf ident\n*.txt filter=lfs\n', run: '#!/bin/sh\n' });
  upstream.git('config', 'core.autocrlf', 'false');
  upstream.write({ 'a/$Id$.c': 'line\nother\r\n$Id$\n', 'b.bin': Buffer.from([0, 255, 10]) });
  upstream.git('-c', 'core.attributesFile=/dev/null', 'add', '--all');
  upstream.git('update-index', '--chmod=+x', 'run');
  upstream.git('commit', '--quiet', '--message', 'Subject\nstill\n\nBody\n');
  const tip = upstream.git('rev-parse', 'HEAD');
  const source = await sourceOf(tip);
  expect(source).toMatchObject({
    origin: 'import',
    parent_source_ids: [],
    message: 'Subject still',
    commit_sha: tip,
    commit_branch: 'main',
    kept_aside: [],
    kept_aside_count: 0,
    file_count: 4,
  });
  const blob = (path: string) => upstream.git('cat-file', 'blob', `HEAD:${path}`);
  const files = await filesOf(source);
  expect(files['run']).toBe('+x #!/bin/sh\n');
  expect(files['b.bin']).toBe('\0\xff\n');
  expect(files['a/$Id$.c']!.trim()).toBe(blob('a/$Id$.c'));
  expect(await eventTypes()).toEqual(['platform.source.imported']);
});

test('a commit is stored once, under the name by which it was found first', async () => {
  const tip = upstream.commit({ 'a.txt': 'a\n' });
  const repository = openUpstream(upstream);
  const found = await Promise.all([
    sourceOf(tip, repository, 'main'),
    sourceOf(tip, repository, 'other'),
    sourceOf(tip, repository, 'third'),
  ]);
  expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  expect(found[0].commit_branch).toBe('main');
  expect(puts).toHaveLength(1);
  expect(await eventTypes()).toEqual(['platform.source.imported']);
});

test('of rivals in two processes one stores the source, and the pack of the other is removed', async () => {
  const tip = upstream.commit({ 'a.txt': 'a\n' });
  // A module of its own has turns of its own.
  const rival = './commit-source.ts?rival';
  const other = (await import(rival)) as typeof import('./commit-source.ts');
  const repository = openUpstream(upstream);
  const found = await Promise.all([
    sourceOf(tip, repository),
    other.commitSource(ctx, project, repository, { commitSha: tip, branch: 'main' }),
  ]);
  expect(found[0].id).toBe(found[1].id);
  const objects = await ctx.db
    .selectFrom('objects')
    .select(['committed_at', 'delete_after'])
    .where('project_id', '=', project.id)
    .execute();
  expect(objects.filter(({ committed_at: at }) => at !== null)).toHaveLength(1);
  expect(objects.every((one) => (one.committed_at === null) === (one.delete_after !== null))).toBe(true);
});

test('of a later commit only the contents that are new are read and packed', async () => {
  const files = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`f${n}`, `${n}`.repeat(5_000)]));
  const repository = openUpstream(upstream);
  const first = await sourceOf(upstream.commit(files), repository);
  const second = await sourceOf(
    upstream.commit({ f3: 'changed', f4: null, renamed: files['f5']! }),
    repository,
  );
  expect(puts).toHaveLength(2);
  expect(puts[1]!).toBeLessThan(100);
  expect(await filesOf(second)).toEqual({
    ...Object.fromEntries(Object.entries(files).filter(([path]) => path !== 'f4')),
    f3: 'changed',
    renamed: files['f5'],
  });
  // Nothing new at all: no pack.
  const third = await sourceOf(upstream.commit({ f3: files['f3']! }), repository);
  expect(puts).toHaveLength(2);
  expect(third.sha256).not.toBe(first.sha256);
});

test('what a source may not hold is kept aside', async () => {
  upstream.write({ 'a.txt': 'a\n' });
  upstream.git('add', '--all');
  const link = upstream.git('hash-object', '-w', 'a.txt');
  upstream.git('update-index', '--add', '--cacheinfo', `120000,${link},link`);
  upstream.git('update-index', '--add', '--cacheinfo', `100644,${link},A.txt`);
  upstream.git('commit', '--quiet', '--message', 'x');
  const source = await sourceOf(upstream.git('rev-parse', 'HEAD'));
  expect(source.kept_aside).toEqual([
    { path: 'a.txt', reason: 'collision' },
    { path: 'link', reason: 'symlink' },
  ]);
  expect(source.kept_aside_count).toBe(2);
  expect(Object.keys(await filesOf(source))).toEqual(['A.txt']);
});

test('contents beyond one part are packed by parts', async () => {
  const large = Buffer.alloc(33 * 1024 * 1024, 'x');
  const source = await sourceOf(upstream.commit({ large, small: 'small' }));
  expect(puts).toHaveLength(2);
  expect(source.byte_size).toBe(large.length + 5);
  expect((await filesOf(source))['small']).toBe('small');
});

describe('too large', () => {
  test.each([
    ['too many files', Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`${n}`, '']))],
    ['too many bytes', { a: Buffer.alloc(21 * 1024 * 1024), b: Buffer.alloc(21 * 1024 * 1024, 1) }],
  ])('%s', async (_, files) => {
    await expect(sourceOf(upstream.commit(files))).rejects.toThrow(RepositoryTooLarge);
    expect(puts).toEqual([]);
    expect(ctx.pool.keptCount).toBe(0);
  });
});

test('a subject of a megabyte is cut', async () => {
  const tip = upstream.commit({ 'a.txt': 'a\n' }, `Very ${'long '.repeat(20_000)}subject`);
  const { message } = await sourceOf(tip);
  expect(message!.length).toBeLessThanOrEqual(1_000);
  expect(message).toMatch(/^Very long long/);
});

test('the files of a commit are read without storing anything', async () => {
  const first = upstream.commit({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const second = upstream.commit({ 'b.txt': 'c\n' });
  const repository = openUpstream(upstream);
  const source = await sourceOf(first, repository);
  const tree = await readCommit(ctx, project.id, repository, second);
  expect(ctx.pool.keptCount).toBe(0);
  expect(puts).toHaveLength(1);
  expect(tree).toEqual(await loadTree(ctx, (await sourceOf(second, repository)).id));
  expect(await readCommit(ctx, project.id, repository, first)).toEqual(await loadTree(ctx, source.id));
});
