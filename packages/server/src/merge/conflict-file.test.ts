import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { conflictText } from './conflict-text.ts';
import { Blobs, lines, RealGit, sha256, x } from './merge.fixture.ts';
import type { Literal } from './merge.fixture.ts';
import { createMergeEngine } from './pool.ts';
import type { TreeRef } from './pool.ts';
import type { Resolution } from './types.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-conflicts-'));
const engine = createMergeEngine({ dir });
const real = new RealGit();
afterAll(async () => {
  await engine.close();
  real.remove();
  rmSync(dir, { recursive: true, force: true });
});

let sources = 0;
async function shown(
  [base, head, draft]: [Literal, Literal, Literal],
  path: string,
  resolutions: Resolution[] = [],
) {
  const blobs = new Blobs();
  const trees = [base, head, draft].map((literal) => blobs.tree(literal));
  const [b, h, d] = trees.map((tree): TreeRef => ({ id: `src_c${++sources}`, load: () => tree }));
  const request = { base: b!, head: h!, draft: d!, readBlobs: blobs.read, resolutions };
  const { file, faults } = await engine.conflictFile(request, path);
  const read = [...blobs.asked].map((sha) => blobs.byHash.get(sha)!.toString());
  /** What a real git has at the path, with our names for the sides. */
  const fromGit = () =>
    real
      .merge(blobs, trees[0]!, trees[1]!, trees[2]!)
      .files[path]?.slice(4)
      .replaceAll(/^((?:<{7,}|>{7,}) (?:head|draft))\d+/gm, '$1');
  return { file, faults, read, fromGit };
}
const side = (content: string) => ({
  sha256: sha256(content),
  byteSize: Buffer.byteLength(content),
  executable: false,
  encoding: 'utf8',
  content,
});
const clash = (n: number, at: number, text: string) => lines(n, { [at]: text });

describe('a file in conflict', () => {
  test("shows its three sides, and git's text with the lines of each conflict", async () => {
    const base = { a: lines(40), other: lines(9) };
    const head = {
      a: lines(40, { 5: 'H', 20: 'H', 33: 'head alone' }),
      other: clash(9, 5, 'head of the other'),
    };
    const draft = {
      a: lines(40, { 5: 'D', 12: 'draft alone', 20: 'D', 21: '<<<<<<< mine' }),
      other: clash(9, 5, 'draft of the other'),
    };
    const { file, read, fromGit } = await shown([base, head, draft], 'a');
    expect(file).toEqual({
      path: 'a',
      kind: 'content',
      base: side(base.a),
      head: side(head.a),
      draft: side(draft.a),
      merged: { content: fromGit(), regions: expect.anything() },
    });
    const text = file!.merged!.content.split('\n');
    expect(file!.merged!.regions.map((r) => [text[r.fromLine - 1], text[r.toLine - 1]])).toEqual([
      ['<<<<<<< head', '>>>>>>> draft'],
      ['<<<<<<< head', '>>>>>>> draft'],
    ]);
    expect(file!.merged!.regions[0]).toEqual({ fromLine: 5, toLine: 9 });
    expect(read.toSorted()).toEqual([base.a, head.a, draft.a].toSorted());
  });

  test('added on both sides; with Windows line ends; without an end of its last line', async () => {
    for (const [head, draft] of [
      ['h\n', 'd\n'],
      ['h\r\n', 'd\r\n'],
      ['h', 'd'],
    ] as const) {
      const { file, fromGit } = await shown([{}, { new: head }, { new: draft }], 'new');
      expect([file!.kind, file!.base, file!.merged]).toEqual([
        'add_add',
        null,
        { content: fromGit(), regions: [{ fromLine: 1, toLine: 5 }] },
      ]);
    }
  });

  test('that was moved has the text at its new place; the old one has none', async () => {
    const base: Literal = { old: lines(40) };
    const head: Literal = { 'on/head': lines(40, { 7: 'H' }) };
    const draft: Literal = { 'on/draft': lines(40, { 7: 'D' }) };
    const { file, fromGit } = await shown([base, head, draft], 'on/head');
    expect([file!.kind, file!.merged!.content]).toEqual(['rename', fromGit()]);
    expect(file!.merged!.content).toMatch(/^<{7,} head:on\/head$/m);
    expect(file!.merged!.regions).toEqual([{ fromLine: 7, toLine: 11 }]);
    expect((await shown([base, head, draft], 'old')).file).toMatchObject({ kind: 'rename', merged: null });
  });

  test('has no text if git merges none', async () => {
    const zero = Buffer.from([0, 1]);
    const sides: [Literal, Literal, Literal] = [
      { gone: 'g\n', bin: zero },
      { gone: 'changed\n', bin: Buffer.from([0, 2]), mode: x('m\n') },
      { bin: Buffer.from([0, 3, 255]), mode: 'm\n' },
    ];
    expect((await shown(sides, 'gone')).file).toMatchObject({
      kind: 'delete_modify',
      head: side('changed\n'),
      draft: null,
      merged: null,
    });
    expect((await shown(sides, 'bin')).file).toMatchObject({
      kind: 'binary',
      draft: { encoding: 'base64', content: 'AAP/', byteSize: 3 },
      merged: null,
    });
    expect((await shown(sides, 'mode')).file).toMatchObject({
      kind: 'mode',
      base: null,
      head: { executable: true },
      draft: { executable: false },
      merged: null,
    });
  });

  test('shows up to 1 MiB, and the text of one that is not UTF-8 is none', async () => {
    const most = (mark: string) => `${mark}\n`.padEnd(1024 * 1024, 'x');
    const sides: [Literal, Literal, Literal] = [
      { most: most('b'), big: `${most('b')}x`, latin: Buffer.from('b\n\xe9\n', 'latin1') },
      { most: most('h'), big: `${most('h')}x`, latin: Buffer.from('h\n\xe9\n', 'latin1') },
      { most: most('d'), big: `${most('d')}x`, latin: Buffer.from('d\n\xe9\n', 'latin1') },
    ];
    expect((await shown(sides, 'most')).file).toMatchObject({ head: side(most('h')), merged: null });
    expect((await shown(sides, 'big')).file).toMatchObject({
      kind: 'content',
      head: { byteSize: 1024 * 1024 + 1, encoding: 'utf8', content: null },
      merged: null,
    });
    expect((await shown(sides, 'latin')).file).toMatchObject({
      head: { encoding: 'base64' },
      merged: null,
    });
  });

  test('collides in its name: of what git merged there the text, without a conflict', async () => {
    const base = { 'README.md': lines(30) };
    const head = { 'README.md': lines(30, { 2: 'H' }) };
    const draft = { 'README.md': lines(30, { 20: 'D' }), 'readme.md': 'new\n' };
    expect((await shown([base, head, draft], 'README.md')).file).toMatchObject({
      kind: 'path',
      merged: { content: lines(30, { 2: 'H', 20: 'D' }), regions: [] },
    });
    // Its rival is in conflict by itself, and is left out of the question to git.
    const rival = { ...head, 'readme.md': 'head\n' };
    expect((await shown([base, rival, draft], 'README.md')).file).toMatchObject({ kind: 'path' });
  });
});

describe('no file', () => {
  const sides: [Literal, Literal, Literal] = [
    { a: 'a\n', b: 'b\n', c: 'c\n', same: 's\n' },
    { a: 'H\n', b: 'H\n', c: 'c\n', same: 's\n' },
    { a: 'D\n', b: 'D\n', c: 'D\n', same: 's\n' },
  ];
  test.each(['c', 'same', 'unknown', 'A', 'a/b'])('at %s, which is not in conflict', async (path) => {
    expect(await shown(sides, path)).toMatchObject({ file: null, faults: [], read: [] });
  });
  test('if a resolution takes a side, or does not fit', async () => {
    const taken: Resolution[] = [{ path: 'a', take: 'head' }];
    expect(await shown(sides, 'a', taken)).toMatchObject({ file: null, faults: [] });
    expect((await shown(sides, 'b', taken)).file).toMatchObject({ kind: 'content' });
    expect(await shown(sides, 'b', [{ path: 'c', take: 'head' }])).toMatchObject({
      file: null,
      faults: [{ index: 0, message: 'is not in conflict' }],
    });
  });
});

test('regions of conflicts within a conflict are one, and lines that look like markers are none', () => {
  const labels = { head: '1'.repeat(40), draft: '2'.repeat(40) };
  const text = [
    '<<<<<<< HEAD',
    `<<<<<<< ${labels.head}:h`,
    `<<<<<<<< ${labels.head}:h`,
    '========',
    `>>>>>>>> ${labels.draft}:d`,
    '=======',
    `>>>>>>> ${labels.draft}:d`,
    `<<<<<<<< ${labels.head}`,
    `>>>>>>>> ${labels.draft}`,
    '>>>>>>> theirs',
  ].join('\n');
  expect(conflictText(Buffer.from(text), labels)).toEqual({
    content: text.replaceAll(labels.head, 'head').replaceAll(labels.draft, 'draft'),
    regions: [
      { fromLine: 2, toLine: 7 },
      { fromLine: 8, toLine: 9 },
    ],
  });
});
