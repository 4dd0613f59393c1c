import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tree } from '../trees/tree.ts';
import { makeDataFolder, openUpstream, Upstream } from './commits.fixture.ts';
import { fetchCommit } from './fetch-commit.ts';
import { mergeKeptAside } from './merge-kept-aside.ts';

let upstream: Upstream, data: ReturnType<typeof makeDataFolder>;
beforeAll(() => {
  upstream = new Upstream();
  data = makeDataFolder();
});
afterAll(() => {
  data.remove();
  upstream.remove();
});

/** `->x` is a symlink to x. */
type Files = Record<string, string>;

function commit(files: Files): { commitSha: string; tree: Tree } {
  upstream.git('rm', '-r', '--quiet', '--force', '--ignore-unmatch', '.');
  const plain = Object.entries(files).filter(([, content]) => !content.startsWith('->'));
  upstream.write(Object.fromEntries(plain));
  for (const [path, content] of Object.entries(files))
    if (content.startsWith('->')) symlinkSync(content.slice(2), join(upstream.dir, path));
  const entry = { sha256: '', byteSize: 0, executable: false };
  return { commitSha: upstream.commit({}), tree: new Map(plain.map(([path]) => [path, entry])) };
}

async function merge(versions: { base: Files; ours: Files; theirs: Files }, merged?: string[]) {
  const [base, ours, theirs] = [commit(versions.base), commit(versions.ours), commit(versions.theirs)];
  const open = openUpstream(upstream);
  await fetchCommit(data.ctx, open, { branch: 'main' });
  const entry = { sha256: '', byteSize: 0, executable: false };
  const { changes, conflicts } = await mergeKeptAside(data.ctx, open, {
    base,
    ours,
    theirs,
    ...(merged && { merged: new Map(merged.map((path) => [path, entry])) }),
  });
  return {
    changes: changes.map(({ path, entry }) => `${path.toString()} ${entry ? entry.mode : 'removed'}`),
    conflicts,
  };
}

const NONE = { changes: [], conflicts: [] };

test('what they alone changed is taken: added, changed, removed', async () => {
  const base = { f: '1', b: '->one', c: '->one' };
  expect(await merge({ base, ours: base, theirs: { f: '1', a: '->new', b: '->two' } })).toEqual({
    changes: ['a 120000', 'b 120000', 'c removed'],
    conflicts: [],
  });
});

test('what we alone changed, and what both changed alike, stays', async () => {
  const base = { f: '1', b: '->one', c: '->one' };
  expect(await merge({ base, ours: { f: '1', b: '->two' }, theirs: base })).toEqual(NONE);
  expect(await merge({ base, ours: { f: '1', b: '->two' }, theirs: { f: '2', b: '->two' } })).toEqual(NONE);
});

test.each<[string, Files, Files]>([
  ['changed differently', { a: '->two' }, { a: '->three' }],
  ['changed here, removed there', { a: '->two' }, {}],
  ['removed here, changed there', {}, { a: '->two' }],
  ['changed here, a file there', { a: '->two' }, { a: 'text' }],
])('%s is a conflict', async (_, ours, theirs) => {
  const result = await merge({
    base: { f: '1', a: '->one' },
    ours: { f: '1', ...ours },
    theirs: { f: '1', ...theirs },
  });
  expect(result).toEqual({ changes: [], conflicts: ['a'] });
});

test('a link that they made where we made a file is a conflict', async () => {
  expect(
    await merge({ base: { f: '1' }, ours: { f: '1', a: 'text' }, theirs: { f: '1', a: '->one' } }),
  ).toEqual({
    changes: [],
    conflicts: ['a'],
  });
});

test('a file that becomes a link, and a link that becomes a file', async () => {
  expect(
    await merge({ base: { a: 'text', f: '1' }, ours: { a: 'text', f: '2' }, theirs: { a: '->f', f: '1' } }),
  ).toEqual({
    changes: ['a 120000'],
    conflicts: [],
  });
  // The merged files have it: they replace the link.
  expect(
    await merge({ base: { a: '->f', f: '1' }, ours: { a: '->f', f: '2' }, theirs: { a: 'text', f: '1' } }),
  ).toEqual({
    changes: ['a removed'],
    conflicts: [],
  });
});

test('a new link above or below a merged file is a conflict', async () => {
  const base = { f: '1' };
  const above = { base, ours: { f: '1', 'a/b': 'text' }, theirs: { f: '1', a: '->f' } };
  expect(await merge(above, ['a/b', 'f'])).toEqual({ changes: [], conflicts: ['a'] });
  const below = { base, ours: { f: '1', a: 'text' }, theirs: { f: '1', 'a/b/c': 'x' } };
  expect(await merge(below, ['a', 'f'])).toEqual(NONE);
});
