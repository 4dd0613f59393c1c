import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Blobs, lines, sha256 } from './merge.fixture.ts';
import type { Literal } from './merge.fixture.ts';
import { createMergeEngine } from './pool.ts';
import type { MergeRequest, TreeRef } from './pool.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-engine-'));
const engine = createMergeEngine({ dir });
afterAll(async () => {
  await engine.close();
  expect(readdirSync(dir)).toEqual([]);
  rmSync(dir, { recursive: true, force: true });
});

let sources = 0;
function request(
  base: Literal,
  head: Literal,
  draft: Literal,
  more: Partial<MergeRequest> = {},
): MergeRequest & { blobs: Blobs } {
  const blobs = new Blobs();
  const ref = (literal: Literal): TreeRef => {
    const tree = blobs.tree(literal);
    return { id: `src_${++sources}`, load: () => tree };
  };
  return { base: ref(base), head: ref(head), draft: ref(draft), readBlobs: blobs.read, blobs, ...more };
}
const clash = (more: Partial<MergeRequest> = {}) =>
  request(
    { a: lines(9) },
    { a: lines(9, { 5: 'H' }), h: 'h\n' },
    { a: lines(9, { 5: 'D' }), d: 'd\n' },
    more,
  );

describe('the merge engine', () => {
  test('merges in its thread', async () => {
    const r = request(
      { a: lines(30), b: 'b\n' },
      { a: lines(30, { 2: 'H' }), b: 'b\n', h: 'h\n' },
      { a: lines(30, { 20: 'D' }), d: 'd\n' },
    );
    const merge = await engine.merge(r);
    expect([merge.status, merge.conflicts, merge.faults, merge.invalid]).toEqual(['clean', [], [], []]);
    expect([...merge.tree.keys()]).toEqual(['a', 'd', 'h']);
    const text = lines(30, { 2: 'H', 20: 'D' });
    expect([...merge.newBlobs].map(([sha, bytes]) => [sha, bytes.toString()])).toEqual([
      [sha256(text), text],
    ]);
    expect(merge.tree.get('a')).toEqual({ sha256: sha256(text), byteSize: text.length, executable: false });
  });

  test('keeps trees by their ids', async () => {
    const r = clash();
    await engine.merge(r);
    const never = (ref: TreeRef): TreeRef => ({
      id: ref.id,
      load: () => {
        throw new Error('loaded again');
      },
    });
    expect(
      (await engine.merge({ ...r, base: never(r.base), draft: never(r.draft) })).conflicts.map((c) => c.path),
    ).toEqual(['a']);
  });

  test('previews conflicts with hunks and the diff to the head', async () => {
    const r = clash();
    const preview = await engine.preview(r);
    expect(preview.conflicts).toEqual([
      {
        path: 'a',
        kind: 'content',
        base: sha256(lines(9)),
        head: sha256(lines(9, { 5: 'H' })),
        draft: sha256(lines(9, { 5: 'D' })),
        hunks: [{ baseStart: 5, headStart: 5, draftStart: 5, base: ['line 5'], head: ['H'], draft: ['D'] }],
      },
    ]);
    expect(preview.files.map((f) => [f.path, f.status, f.additions, f.deletions])).toEqual([
      ['a', 'modified', 1, 1],
      ['d', 'added', 1, 0],
    ]);
    const resolved = await engine.preview({ ...r, resolutions: [{ path: 'a', take: 'head' }] });
    expect([resolved.status, resolved.files.map((f) => f.path)]).toEqual(['clean', ['d']]);
  });

  test('previews what git merged', async () => {
    const preview = await engine.preview(
      request({ a: lines(30) }, { a: lines(30, { 2: 'H' }) }, { a: lines(30, { 20: 'D' }) }),
    );
    expect(preview.files.map((f) => [f.path, f.additions, f.deletions, f.patch?.includes('+D\n')])).toEqual([
      ['a', 1, 1, true],
    ]);
  });

  test('tells hunks of files that both added, and of several regions', async () => {
    const { conflicts } = await engine.preview(
      request(
        { b: lines(20) },
        { a: 'one\nshared\n', b: lines(20, { 3: 'H\nH2', 10: 'clean', 18: 'H3' }) },
        { a: 'two\nshared\n', b: lines(20, { 3: 'D', 19: 'D3' }) },
      ),
    );
    expect(conflicts.map((c) => c.hunks)).toEqual([
      [
        {
          baseStart: 0,
          headStart: 1,
          draftStart: 1,
          base: [],
          head: ['one', 'shared'],
          draft: ['two', 'shared'],
        },
      ],
      [
        { baseStart: 3, headStart: 3, draftStart: 3, base: ['line 3'], head: ['H', 'H2'], draft: ['D'] },
        {
          baseStart: 18,
          headStart: 19,
          draftStart: 18,
          base: ['line 18', 'line 19'],
          head: ['H3', 'line 19'],
          draft: ['line 18', 'D3'],
        },
      ],
    ]);
  });

  test('names resolutions that cannot be', async () => {
    const merge = await engine.merge(
      clash({
        resolutions: [
          { path: 'a', take: 'head' },
          { path: 'd', take: 'head' },
        ],
      }),
    );
    expect(merge.faults).toEqual([{ index: 1, message: 'is not in conflict' }]);
  });

  test('a merge of valid sides into too many files or bytes is invalid', async () => {
    const many = (prefix: string): Literal =>
      Object.fromEntries(Array.from({ length: 5001 }, (_, i) => [`${prefix}${i}`, 'same\n']));
    const merge = await engine.merge(request({}, many('h'), many('d')));
    expect([merge.status, merge.invalid]).toEqual([
      'clean',
      [{ path: null, message: 'the merge has 10002 files, 10000 are allowed' }],
    ]);
    const big = Buffer.alloc(6 * 1024 * 1024, 'x');
    const heavy = await engine.merge(request({}, { a: big, b: big, c: big }, { d: big, e: big, f: big }));
    expect(heavy.invalid.map((f) => f.path)).toEqual([null]);
  });

  test('rejects with what the caller’s readers throw', async () => {
    const broken = new Error('storage is away');
    await expect(
      engine.merge(
        clash({
          readBlobs: () => Promise.reject(broken),
          base: { id: 'src_new', load: () => Promise.reject(broken) },
        }),
      ),
    ).rejects.toBe(broken);
    const blobs = new Blobs();
    const ref = (text: string): TreeRef => ({
      id: `src_${text}`,
      load: () => blobs.tree({ a: `${text}\n` }),
    });
    await expect(
      engine.merge({
        base: ref('away 1'),
        head: ref('away 2'),
        draft: ref('away 3'),
        readBlobs: () => Promise.reject(broken),
      }),
    ).rejects.toBe(broken);
  });

  test('answers requests that come together', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        engine.merge(
          request({ a: lines(30) }, { a: lines(30, { 2: `H${i}` }) }, { a: lines(30, { 20: `D${i}` }) }),
        ),
      ),
    );
    expect(results.map((r) => r.newBlobs.values().next().value!.toString())).toEqual(
      results.map((_, i) => lines(30, { 2: `H${i}`, 20: `D${i}` })),
    );
  });

  test('makes a new repository when there are many packs in the old one', { timeout: 60_000 }, async () => {
    const own = join(
      dir,
      readdirSync(dir).find((name) => name.startsWith(`merge-${process.pid}-`))!,
    );
    const folder = join(own, 'repository.git/objects/pack');
    const packs = () => (existsSync(folder) ? readdirSync(folder).length : 0);
    let merges = 0;
    for (let most = packs(); packs() >= most && merges < 200; merges++) {
      most = packs();
      const text = (head: string, draft: string) => lines(9, { 1: `base ${merges}`, 3: head, 7: draft });
      const merge = await engine.merge(
        request({ a: text('', '') }, { a: text('H', '') }, { a: text('', 'D') }),
      );
      expect([...merge.newBlobs.values()].map(String)).toEqual([text('H', 'D')]);
    }
    expect(merges).toBeLessThan(200);
  });

  test('diffs two sources', async () => {
    const r = request({ a: 'a\n' }, { a: 'b\n' }, {});
    expect(
      (await engine.diff({ from: r.base, to: r.head, readBlobs: r.readBlobs })).map((f) => [
        f.path,
        f.status,
      ]),
    ).toEqual([['a', 'modified']]);
  });
});

describe('limits', () => {
  test('a full queue refuses', async () => {
    const small = createMergeEngine({ dir, maxQueue: 1 });
    let open!: () => void;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow = () => {
      const r = clash();
      return small.merge({
        ...r,
        base: {
          id: r.base.id,
          load: async () => {
            await gate;
            return r.base.load();
          },
        },
      });
    };
    const under = Array.from({ length: 5 }, slow);
    await expect(slow()).rejects.toMatchObject({ name: 'MergeUnavailable', reason: 'busy' });
    open();
    expect((await Promise.all(under)).map((m) => m.status)).toEqual(Array(5).fill('conflicted'));
    await small.close();
  });

  test('a request that takes too long is refused; what was under way beside it is tried again on a new thread', async () => {
    const hasty = createMergeEngine({ dir, timeoutMs: 3000 });
    await hasty.merge(clash());
    const stuck = hasty.merge(clash({ base: { id: 'src_stuck', load: () => new Promise(() => undefined) } }));
    let loads = 0;
    const r = clash();
    const beside = hasty.merge({
      ...r,
      base: { id: r.base.id, load: () => (loads++ === 0 ? new Promise(() => undefined) : r.base.load()) },
    });
    await expect(stuck).rejects.toMatchObject({ reason: 'timeout' });
    expect([(await beside).status, loads > 1]).toEqual(['conflicted', true]);
    await hasty.close();
    await expect(hasty.merge(clash())).rejects.toMatchObject({ reason: 'closed' });
  });

  test('repositories that dead processes left are removed', async () => {
    mkdirSync(join(dir, 'merge-4194399-0123abcd'));
    await createMergeEngine({ dir }).close();
    expect(readdirSync(dir).filter((name) => name.includes('4194399'))).toEqual([]);
  });
});
