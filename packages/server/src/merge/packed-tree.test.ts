import { describe, expect, test } from 'vitest';
import { deltaTo, packTree, unpackTree } from './packed-tree.ts';
import type { Entry, Tree } from '../trees/tree.ts';
import { withChanges } from './with-changes.ts';

const entry = (n: number, executable = false): Entry => ({
  sha256: n.toString(16).padStart(64, '0'),
  byteSize: n,
  executable,
});
const treeOf = (count: number): Tree =>
  new Map(Array.from({ length: count }, (_, i) => [`f${String(i).padStart(4, '0')}`, entry(i, i % 3 === 0)]));

describe('trees on their way to the worker', () => {
  test('packed, they are the same in the same order', () => {
    for (const tree of [treeOf(0), treeOf(1), treeOf(500)])
      expect([...unpackTree(packTree(tree))]).toEqual([...tree]);
  });

  test('as a delta, with what is added, changed, of another mode and gone', () => {
    const near = treeOf(100);
    const tree = new Map(
      [['\u{10000}', entry(7)], ['\uffff', entry(8)], ...near].filter(([path]) => path !== 'f0050') as [
        string,
        Entry,
      ][],
    );
    tree.set('f0003', entry(3, false)).set('f0004', entry(999));
    const sorted = new Map([...tree].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    const delta = deltaTo(sorted, near)!;
    expect(delta.changes.map(([path]) => path)).toEqual(['f0003', 'f0004', 'f0050', '\uffff', '\u{10000}']);
    expect([...withChanges(near, delta.changes)]).toEqual([...sorted]);
    expect(deltaTo(near, near)).toEqual({ changes: [] });
  });

  test('no delta where much differs', () => {
    const near = treeOf(100);
    expect(deltaTo(treeOf(0), near)).toBe(null);
    expect(deltaTo(new Map([...near].slice(0, 80)), near)).toBe(null);
    expect(deltaTo(treeOf(200), near)).toBe(null);
  });
});
