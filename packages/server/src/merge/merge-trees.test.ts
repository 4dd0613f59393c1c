import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { comparePaths } from '../trees/paths.ts';
import { Blobs, RealGit, lines, sha256, x } from './merge.fixture.ts';
import type { Literal } from './merge.fixture.ts';
import { GitFailure } from './git-process.ts';
import { createGit } from './git.ts';
import type { Git } from './git.ts';
import { mergeTrees } from './merge-trees.ts';
import type { Conflict, Merge } from './types.ts';
import { withChanges } from './with-changes.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-merge-'));
const git = createGit({ dir });
const real = new RealGit();
afterAll(() => {
  git.close();
  real.remove();
  rmSync(dir, { recursive: true, force: true });
});

interface Row {
  base: Literal;
  head: Literal;
  draft: Literal;
  /** The merged files, or the kinds of the conflicts by path. */
  merged?: Literal;
  conflicts?: Record<string, Conflict['kind']>;
  /** Git has no opinion here: it checks no collisions and never names a file's other path. */
  gitDiffers?: true;
}

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
const b = (...bytes: number[]): Buffer => Buffer.from(bytes);
const z = { z: 'z\n' };
const big = lines(40);
const edited = lines(40, { 7: 'EDIT' });
const other = Array.from({ length: 40 }, (_, i) => `row ${i}\n`).join('');
const invalid = (second: string): Buffer =>
  Buffer.concat([b(0xef, 0xbb, 0xbf, 0xff, 0xfe, 10), Buffer.from(second), b(0xc3, 10)]);

const TABLE: Record<string, Row> = {
  'independent files': {
    base: { a: 'a\n', ...z },
    head: { a: 'A\n', ...z },
    draft: { a: 'a\n', z: 'Z\n', n: 'n\n' },
    merged: { a: 'A\n', z: 'Z\n', n: 'n\n' },
  },
  'different regions': {
    base: { a: lines(30) },
    head: { a: lines(30, { 3: 'H' }) },
    draft: { a: lines(30, { 25: 'D' }) },
    merged: { a: lines(30, { 3: 'H', 25: 'D' }) },
  },
  'draft = base': { base: { a: 'a\n' }, head: { a: 'A\n' }, draft: { a: 'a\n' }, merged: { a: 'A\n' } },
  'head = base': { base: { a: 'a\n' }, head: { a: 'a\n' }, draft: { b: 'b\n' }, merged: { b: 'b\n' } },
  'the same change on both sides': {
    base: { a: 'a\n' },
    head: { a: 'b\n' },
    draft: { a: 'b\n', n: 'n\n' },
    merged: { a: 'b\n', n: 'n\n' },
  },
  'deleted on both sides': { base: { a: 'a\n', ...z }, head: z, draft: { z: 'Z\n' }, merged: { z: 'Z\n' } },
  'the same file added on both sides': {
    base: z,
    head: { ...z, a: 's\n' },
    draft: { ...z, a: 's\n', n: 'n\n' },
    merged: { ...z, a: 's\n', n: 'n\n' },
  },
  'names that differ in case': {
    base: z,
    head: { ...z, 'README.md': 'h\n' },
    draft: { ...z, 'readme.md': 'd\n' },
    conflicts: { 'README.md': 'path', 'readme.md': 'path' },
    gitDiffers: true,
  },
  'names that differ in Unicode form': {
    base: z,
    head: { ...z, 'caf\u00e9': 'h\n' },
    draft: { ...z, 'cafe\u0301': 'd\n' },
    conflicts: { 'cafe\u0301': 'path', 'caf\u00e9': 'path' },
    gitDiffers: true,
  },
  'folders that differ in case': {
    base: z,
    head: { ...z, 'Docs/a': '1\n' },
    draft: { ...z, 'docs/b': '2\n' },
    merged: { ...z, 'Docs/a': '1\n', 'docs/b': '2\n' },
  },
  'a file and a folder that differ in case': {
    base: z,
    head: { ...z, docs: '1\n' },
    draft: { ...z, 'Docs/b': '2\n' },
    conflicts: { docs: 'path', 'Docs/b': 'path' },
    gitDiffers: true,
  },
  'a file here, a folder there': {
    base: z,
    head: { ...z, a: 'f\n' },
    draft: { ...z, 'a/b': '1\n', 'a/c/d': '2\n' },
    conflicts: { a: 'path', 'a/b': 'path', 'a/c/d': 'path' },
    gitDiffers: true,
  },
  'an empty file that became a folder, with a conflict that git tells of and does not have': {
    base: { a: '', old: '', ...z },
    head: { a: '', ...z },
    draft: { 'a/b': '', ...z },
    merged: { 'a/b': '', ...z },
  },
  'a folder here, a file there': {
    base: z,
    head: { ...z, 'a/b': '1\n' },
    draft: { ...z, a: 'f\n' },
    conflicts: { a: 'path', 'a/b': 'path' },
    gitDiffers: true,
  },
  'an edited file that became a folder': {
    base: { a: 'a\n' },
    head: { a: 'A\n' },
    draft: { 'a/b': 'new\n' },
    conflicts: { a: 'path', 'a/b': 'path' },
    gitDiffers: true,
  },
  'an edited file that moved into a folder of its name': {
    base: { a: big },
    head: { a: edited },
    draft: { 'a/b': big },
    merged: { 'a/b': edited },
  },
  'exec bit in the head, content in the draft': {
    base: { a: lines(9) },
    head: { a: x(lines(9)) },
    draft: { a: lines(9, { 5: 'D' }) },
    merged: { a: x(lines(9, { 5: 'D' })) },
  },
  'content in the head, exec bit in the draft': {
    base: { a: lines(9), b: x('b\n') },
    head: { a: lines(9, { 5: 'H' }), b: x('b\n') },
    draft: { a: x(lines(9)), b: 'b\n' },
    merged: { a: x(lines(9, { 5: 'H' })), b: 'b\n' },
  },
  'content on both sides, exec bit on one': {
    base: { a: lines(9) },
    head: { a: x(lines(9, { 1: 'H' })) },
    draft: { a: lines(9, { 9: 'D' }) },
    merged: { a: x(lines(9, { 1: 'H', 9: 'D' })) },
  },
  'exec bit against delete': {
    base: { a: lines(9), ...z },
    head: { a: x(lines(9)), ...z },
    draft: z,
    conflicts: { a: 'delete_modify' },
  },
  'added on both sides with other mode': {
    base: z,
    head: { ...z, a: 's\n' },
    draft: { ...z, a: x('s\n') },
    conflicts: { a: 'mode' },
  },
  'added binaries of one content with other mode': {
    base: z,
    head: { ...z, a: b(0, 1) },
    draft: { ...z, a: x(b(0, 1)) },
    conflicts: { a: 'mode' },
  },
  'added on both sides': {
    base: z,
    head: { ...z, 'd/a': 'h\n' },
    draft: { ...z, 'd/a': 'd\n' },
    conflicts: { 'd/a': 'add_add' },
  },
  'added on both sides, one empty': {
    base: z,
    head: { ...z, a: '' },
    draft: { ...z, a: 'd\n' },
    merged: { ...z, a: 'd\n' },
  },
  'deleted in the head, edited in the draft': {
    base: { a: lines(9), ...z },
    head: z,
    draft: { a: lines(9, { 5: 'D' }), ...z },
    conflicts: { a: 'delete_modify' },
  },
  'edited in the head, deleted in the draft': {
    base: { a: lines(9), ...z },
    head: { a: lines(9, { 5: 'H' }), ...z },
    draft: z,
    conflicts: { a: 'delete_modify' },
  },
  'one line on both sides': {
    base: { a: lines(9) },
    head: { a: lines(9, { 5: 'H' }) },
    draft: { a: lines(9, { 5: 'D' }) },
    conflicts: { a: 'content' },
  },
  'adjacent lines': {
    base: { a: lines(9) },
    head: { a: lines(9, { 4: 'H' }) },
    draft: { a: lines(9, { 5: 'D' }) },
    conflicts: { a: 'content' },
  },
  'one line between': {
    base: { a: lines(9) },
    head: { a: lines(9, { 4: 'H' }) },
    draft: { a: lines(9, { 6: 'D' }) },
    merged: { a: lines(9, { 4: 'H', 6: 'D' }) },
  },
  'both append the same': {
    base: { a: 'a\n' },
    head: { a: 'a\nb\n' },
    draft: { a: 'a\nb\n', ...z },
    merged: { a: 'a\nb\n', ...z },
  },
  'both append something else': {
    base: { a: 'a\n' },
    head: { a: 'a\nb\n' },
    draft: { a: 'a\nc\n' },
    conflicts: { a: 'content' },
  },
  'closing braces that a naive line merge drops': {
    base: { a: '}\n}\n' },
    head: { a: 'X\n}\n' },
    draft: { a: '}\n' },
    conflicts: { a: 'content' },
  },
  'moved in the head, edited in the draft': {
    base: { 'old.txt': big, ...z },
    head: { 'new.txt': big, ...z },
    draft: { 'old.txt': edited, ...z },
    merged: { 'new.txt': edited, ...z },
  },
  'moved and edited in the head, edited in the draft elsewhere': {
    base: { 'old.txt': big, ...z },
    head: { 'new.txt': lines(40, { 30: 'H' }), ...z },
    draft: { 'old.txt': edited, ...z },
    merged: { 'new.txt': lines(40, { 7: 'EDIT', 30: 'H' }), ...z },
  },
  'moved and edited in the head, edited in the draft in the same line': {
    base: { 'old.txt': big, ...z },
    head: { 'new.txt': lines(40, { 7: 'H' }), ...z },
    draft: { 'old.txt': edited, ...z },
    conflicts: { 'new.txt': 'rename', 'old.txt': 'rename' },
    gitDiffers: true,
  },
  'moved in the draft, made executable in the head': {
    base: { old: big },
    head: { old: x(big) },
    draft: { new: big },
    merged: { new: x(big) },
  },
  'moved to two places': {
    base: { 'old.txt': big },
    head: { 'head.txt': big },
    draft: { 'draft.txt': big },
    conflicts: { 'draft.txt': 'rename', 'head.txt': 'rename', 'old.txt': 'rename' },
  },
  'moved to one place by both': {
    base: { old: big },
    head: { new: big },
    draft: { new: big },
    merged: { new: big },
  },
  'two files moved to one place': {
    base: { a: big, b: other },
    head: { c: big, b: other },
    draft: { a: big, c: other },
    conflicts: { a: 'rename', b: 'rename', c: 'rename' },
    gitDiffers: true,
  },
  'moved in the head, deleted in the draft': {
    base: { 'old.txt': big, ...z },
    head: { 'new.txt': big, ...z },
    draft: z,
    conflicts: { 'new.txt': 'rename' },
  },
  'moved and edited in the head, deleted in the draft': {
    base: { 'old.txt': big, ...z },
    head: { 'new.txt': edited, ...z },
    draft: z,
    conflicts: { 'new.txt': 'rename' },
  },
  'moved and edited in the head, the same file added and the old one edited in the draft': {
    base: { old: big },
    head: { new: lines(40, { 7: 'H' }) },
    draft: { old: lines(40, { 7: 'D' }), new: lines(40, { 7: 'H' }) },
    conflicts: { new: 'rename', old: 'rename' },
    gitDiffers: true,
  },
  'moved and edited in the draft, the same file added and the old one edited in the head': {
    base: { old: big },
    head: { old: lines(40, { 7: 'H' }), new: lines(40, { 7: 'D' }) },
    draft: { new: lines(40, { 7: 'D' }) },
    conflicts: { new: 'rename', old: 'rename' },
    gitDiffers: true,
  },
  'a file added where the other side moved the folder': {
    base: { 'old/a': big, 'old/b': other, ...z },
    head: { 'new/a': big, 'new/b': other, ...z },
    draft: { 'old/a': big, 'old/b': other, 'old/c': 'c\n', ...z },
    conflicts: { 'new/c': 'rename', 'old/c': 'rename' },
    gitDiffers: true,
  },
  'a file added to a folder that lost some files only': {
    base: { 'old/a': big, 'old/b': other, ...z },
    head: { 'new/a': big, 'old/b': other, ...z },
    draft: { 'old/a': big, 'old/b': other, 'old/c': 'c\n', ...z },
    merged: { 'new/a': big, 'old/b': other, 'old/c': 'c\n', ...z },
  },
  'a file added where the folder moved and its new place is taken': {
    base: { 'old/a': big, 'new/c': 'there\n' },
    head: { 'new/a': big, 'new/c': 'there\n' },
    draft: { 'old/a': big, 'old/c': 'c\n', 'new/c': 'there\n' },
    conflicts: { 'new/c': 'rename', 'old/c': 'rename' },
    gitDiffers: true,
  },
  'which of equal files moved depends on folders that live on': {
    base: { 'b/n0': '', 'a/c/n2': 'line 6\n', 'a/x': 'line 6\n', x: 'line 6\n' },
    head: {
      'b/n0': '',
      'a/c/n2': 'line 6\n',
      'a/x': 'line 6\n',
      'src/deep/n2': '',
      'src/deep/in1': 'line 6\n',
    },
    draft: { 'b/n0': '', a: 'line 6\n' },
    conflicts: { a: 'rename', 'src/deep/in1': 'rename', x: 'rename' },
  },
  'which of equal files moved depends on the root': {
    base: { 'a/c/n1': 'line 52\n', 'a/c/y': '', 'a/n3': 'line 52\n', x: '', y: 'line 52\n' },
    head: { x: '', a: 'line 52\n' },
    draft: { 'a/c/n1': 'line 52\n', 'a/c/y': '', 'a/n3': 'line 52\n', x: '', 'src/new/c': 'line 52\n' },
    conflicts: { a: 'rename', 'src/new/c': 'rename', y: 'rename' },
  },
  'a folder split alike on both sides': {
    base: { 'src/deep/a': 'line 46\n', 'src/deep/f': 'line 46\n' },
    head: { 'two/er/util': 'line 46\n', 'two/f': 'line 46\n', 'src/new2': '' },
    draft: { 'two/er/util': 'line 46\n', 'two/f': 'line 46\n' },
    conflicts: { 'two/er/util': 'rename', 'two/f': 'rename' },
    gitDiffers: true,
  },
  'a folder split between two': {
    base: { 'old/a': big, 'old/b': other },
    head: { 'one/a': big, 'two/b': other },
    draft: { 'old/a': big, 'old/b': other, 'old/c': 'c\n' },
    conflicts: { 'old/c': 'rename' },
    gitDiffers: true,
  },
  'a folder split between two, and a file added above it': {
    base: { 'lib/old/a': 'a\n', 'lib/old/b': 'a\n' },
    head: { 'one/a': 'a\n', 'two/b': 'a\n' },
    draft: { 'lib/old/a': 'a\n', 'lib/old/b': 'a\n', 'lib/g': '' },
    conflicts: { 'lib/old/a': 'rename', 'lib/old/b': 'rename' },
    gitDiffers: true,
  },
  'binaries changed on both sides': {
    base: { a: b(0, 1) },
    head: { a: b(0, 2) },
    draft: { a: b(0, 3) },
    conflicts: { a: 'binary' },
  },
  'a binary changed on one side': {
    base: { a: b(0, 1), ...z },
    head: { a: b(0, 2), ...z },
    draft: { a: b(0, 1), z: 'Z\n' },
    merged: { a: b(0, 2), z: 'Z\n' },
  },
  'text became binary, edited there': {
    base: { a: lines(9) },
    head: { a: b(0, 1) },
    draft: { a: lines(9, { 5: 'D' }) },
    conflicts: { a: 'binary' },
  },
  'NUL beyond the first 8,000 bytes is text': {
    base: { a: `${lines(2000)}\0` },
    head: { a: `${lines(2000, { 2: 'H' })}\0` },
    draft: { a: `${lines(2000, { 1990: 'D' })}\0` },
    merged: { a: `${lines(2000, { 2: 'H', 1990: 'D' })}\0` },
  },
  'CRLF lines apart': {
    base: { a: crlf(lines(20)) },
    head: { a: crlf(lines(20, { 2: 'H' })) },
    draft: { a: crlf(lines(20, { 15: 'D' })) },
    merged: { a: crlf(lines(20, { 2: 'H', 15: 'D' })) },
  },
  'converted to CRLF, edited there': {
    base: { a: lines(9) },
    head: { a: crlf(lines(9)) },
    draft: { a: lines(9, { 5: 'D' }) },
    conflicts: { a: 'content' },
  },
  'lone CRs are one line': {
    base: { a: 'a\rb\rc\n' },
    head: { a: 'A\rb\rc\n' },
    draft: { a: 'a\rb\rC\n' },
    conflicts: { a: 'content' },
  },
  'final newline against an edit above': {
    base: { a: lines(9).trimEnd() },
    head: { a: lines(9) },
    draft: { a: lines(9, { 2: 'D' }).trimEnd() },
    merged: { a: lines(9, { 2: 'D' }) },
  },
  'final newline against an edit of that line': {
    base: { a: 'a\nb' },
    head: { a: 'a\nb\n' },
    draft: { a: 'a\nB' },
    conflicts: { a: 'content' },
  },
  'emptied against edited': {
    base: { a: lines(9) },
    head: { a: '' },
    draft: { a: lines(9, { 5: 'D' }) },
    conflicts: { a: 'content' },
  },
  'invalid UTF-8 and a byte order mark': {
    base: { a: invalid(lines(9)) },
    head: { a: invalid(lines(9, { 1: 'H' })) },
    draft: { a: invalid(lines(9, { 9: 'D' })) },
    merged: { a: invalid(lines(9, { 1: 'H', 9: 'D' })) },
  },
  'a merge driver of .gitattributes': {
    base: { '.gitattributes': '* merge=union\n', a: 'a\n' },
    head: { '.gitattributes': '* merge=union\n', a: 'h\n' },
    draft: { '.gitattributes': '* merge=union\n', a: 'd\n' },
    conflicts: { a: 'content' },
  },
  'binary by .gitattributes': {
    base: { '.gitattributes': '* -text -diff -merge binary\n', a: lines(9) },
    head: { '.gitattributes': '* -text -diff -merge binary\n', a: lines(9, { 1: 'H' }) },
    draft: { '.gitattributes': '* -text -diff -merge binary\n', a: lines(9, { 9: 'D' }) },
    merged: { '.gitattributes': '* -text -diff -merge binary\n', a: lines(9, { 1: 'H', 9: 'D' }) },
  },
  'empty files are no renames': {
    base: { a: '', b: 'b\n' },
    head: { c: '', b: 'b\n' },
    draft: { d: '', b: 'b\n' },
    merged: { c: '', d: '', b: 'b\n' },
  },
  'names with blanks, quotes and beyond ASCII': {
    base: { 'ä b/"q".txt': lines(9) },
    head: { 'ä b/"q".txt': lines(9, { 1: 'H' }) },
    draft: { 'ä b/"q".txt': lines(9, { 9: 'D' }) },
    merged: { 'ä b/"q".txt': lines(9, { 1: 'H', 9: 'D' }) },
  },
  'a name that looks made up by git': {
    base: { 'd~head': 'a\n' },
    head: { 'd~head': 'h\n' },
    draft: { 'd~head': 'd\n' },
    conflicts: { 'd~head': 'content' },
    gitDiffers: true,
  },
  'too many lines for a line merge': {
    base: { a: lines(200_001) },
    head: { a: lines(200_001, { 1: 'H' }) },
    draft: { a: lines(200_001, { 200_001: 'D' }) },
    conflicts: { a: 'content' },
    gitDiffers: true,
  },
  'names that clash through a move': {
    base: { 'old.md': big, ...z },
    head: { 'README.md': big, ...z },
    draft: { 'old.md': edited, 'readme.md': 'd\n', ...z },
    conflicts: { 'README.md': 'path', 'readme.md': 'path' },
    gitDiffers: true,
  },
};

const kinds = (merge: Merge): Record<string, string> =>
  Object.fromEntries(merge.conflicts.map((c) => [c.path, c.kind]));

describe('merging trees', () => {
  test.each(Object.entries(TABLE))('%s', async (_, row) => {
    const blobs = new Blobs();
    const [base, head, draft] = [blobs.tree(row.base), blobs.tree(row.head), blobs.tree(row.draft)];
    const merge = await mergeTrees({ base, head, draft, readBlobs: blobs.read, git });
    const tree = withChanges(head, merge.changes);
    expect([...tree.keys()]).toEqual([...tree.keys()].sort(comparePaths));
    expect(kinds(merge)).toEqual(row.conflicts ?? {});
    expect(merge.status).toBe(row.conflicts ? 'conflicted' : 'clean');
    if (row.merged) expect(blobs.show(tree, merge.newBlobs)).toEqual(blobs.show(blobs.tree(row.merged)));
    for (const c of merge.conflicts) {
      expect([c.base, c.head, c.draft]).toEqual(
        [base, head, draft].map((tree) => tree.get(c.path)?.sha256 ?? null),
      );
      expect(tree.get(c.path)).toEqual(draft.get(c.path));
    }
    if (row.gitDiffers) return;
    const expected = real.merge(blobs, base, head, draft);
    expect([...new Set(expected.names)].sort()).toEqual(Object.keys(row.conflicts ?? {}).sort());
    if (row.merged) expect(expected.files).toEqual(blobs.show(tree, merge.newBlobs));
  });

  test('conflicts stand in the order of their bytes', async () => {
    const blobs = new Blobs();
    const at = (content: string): Literal => ({
      '\uff5e': content,
      '😀': content,
      Z: content,
      a: content,
      'a/': content,
    });
    const { 'a/': _, ...base } = at('b\n');
    const { 'a/': __, ...head } = at('h\n');
    const { 'a/': ___, ...draft } = at('d\n');
    const merge = await mergeTrees({
      base: blobs.tree(base),
      head: blobs.tree(head),
      draft: blobs.tree(draft),
      readBlobs: blobs.read,
      git,
    });
    expect(merge.conflicts.map((c) => c.path)).toEqual(['Z', 'a', '\uff5e', '😀']);
  });

  test('reads only what both sides touched', async () => {
    const blobs = new Blobs();
    const untouched = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`src/f${i}`, `${i}\n`]));
    const text = (changed: Record<number, string>): string => `only here\n${lines(9, changed)}`;
    const base = blobs.tree({ ...untouched, a: text({}) });
    const head = blobs.tree({ ...untouched, a: text({ 1: 'H' }), 'src/new': 'n\n' });
    const draft = blobs.tree({ ...untouched, a: text({ 9: 'D' }), 'src/f1': 'changed\n' });
    await mergeTrees({ base, head, draft, readBlobs: blobs.read, git });
    expect(blobs.asked).toEqual(new Set([text({}), text({ 1: 'H' }), text({ 9: 'D' })].map(sha256)));
  });

  test('what git has not decided in time is a conflict', async () => {
    const tooSlow: Git = {
      ...git,
      mergeTree: () => Promise.reject(new GitFailure('late', { timedOut: true })),
    };
    const blobs = new Blobs();
    const [base, head, draft] = [
      blobs.tree({ a: lines(9) }),
      blobs.tree({ a: lines(9, { 1: 'H' }), h: 'h\n' }),
      blobs.tree({ a: lines(9, { 9: 'D' }), d: 'd\n' }),
    ];
    const late = await mergeTrees({ base, head, draft, readBlobs: blobs.read, git: tooSlow });
    expect(kinds(late)).toEqual({ a: 'content' });
    expect([...withChanges(head, late.changes).keys()]).toEqual(['a', 'd', 'h']);
  });

  test('what git aborts on is a conflict', async () => {
    const aborting: Git = {
      ...git,
      mergeTree: () => Promise.reject(new GitFailure('an assertion', { aborted: true })),
    };
    const blobs = new Blobs();
    const [base, head, draft] = [
      blobs.tree({ a: lines(9) }),
      blobs.tree({ a: lines(9, { 1: 'H' }), h: 'h\n' }),
      blobs.tree({ a: lines(9, { 9: 'D' }) }),
    ];
    expect(kinds(await mergeTrees({ base, head, draft, readBlobs: blobs.read, git: aborting }))).toEqual({
      a: 'content',
    });
  });

  test('git is asked once more, with everything, when it dies', async () => {
    const blobs = new Blobs();
    const [base, head, draft] = [
      blobs.tree({ a: lines(9), b: 'one side only\n' }),
      blobs.tree({ a: lines(9, { 1: 'H' }), b: 'one side changed\n' }),
      blobs.tree({ a: lines(9, { 9: 'D' }), b: 'one side only\n' }),
    ];
    let asked = 0;
    const dying: Git = {
      ...git,
      mergeTree: (...args) =>
        asked++ === 0 ? Promise.reject(new GitFailure('died')) : git.mergeTree(...args),
    };
    const merge = await mergeTrees({ base, head, draft, readBlobs: blobs.read, git: dying });
    expect([merge.status, asked, blobs.asked.has(sha256('one side changed\n'))]).toEqual(['clean', 2, true]);
  });

  test('a content that cannot be read fails the merge with that error', async () => {
    const blobs = new Blobs();
    const [base, head, draft] = [
      blobs.tree({ a: 'lost 1\n' }),
      blobs.tree({ a: 'lost 2\n' }),
      blobs.tree({ a: 'lost 3\n' }),
    ];
    blobs.byHash.clear();
    await expect(mergeTrees({ base, head, draft, readBlobs: blobs.read, git })).rejects.toThrow('no content');
  });
});
