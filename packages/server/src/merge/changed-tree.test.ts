import { describe, expect, test } from 'vitest';
import { bytesOf, ChangedTree, knownChanges, wholeTree } from './changed-tree.ts';
import { Blobs } from './merge.fixture.ts';
import { touchedPaths } from './three-way.ts';
import type { Tree } from '../trees/tree.ts';

const blobs = new Blobs();
const base = blobs.tree({ a: 'a', 'b/c': 'bc', d: 'd', e: 'e' });
const entry = (content: string) => blobs.tree({ x: content }).get('x')!;
const head = new ChangedTree(base, [
  ['a', entry('head')],
  ['b/c', null],
  ['b/d', entry('new')],
]);
const wholeHead = blobs.tree({ a: 'head', 'b/d': 'new', d: 'd', e: 'e' });

describe('a changed tree', () => {
  test('is the tree that it stands for', () => {
    expect([...head]).toEqual([...wholeHead]);
    expect([head.size, [...head.keys()], [...head.values()], [...head.entries()]]).toEqual([
      4,
      [...wholeHead.keys()],
      [...wholeHead.values()],
      [...wholeHead],
    ]);
    const seen: string[] = [];
    head.forEach((_, path) => seen.push(path));
    expect(seen).toEqual(['a', 'b/d', 'd', 'e']);
    for (const path of ['a', 'b/c', 'b/d', 'd', 'none'])
      expect([head.get(path), head.has(path)]).toEqual([wholeHead.get(path), wholeHead.has(path)]);
    expect(bytesOf(head)).toBe(bytesOf(wholeHead));
  });

  test('of a changed tree has that one whole', () => {
    const next = new ChangedTree(head, [['d', null]]);
    expect(next.from).toBe(wholeTree(head));
    expect([[...next.keys()], next.size, bytesOf(next)]).toEqual([
      ['a', 'b/d', 'e'],
      3,
      bytesOf(wholeHead) - 1,
    ]);
  });

  test('tells what it changed of its own tree only', () => {
    expect([...knownChanges(base, head)!]).toEqual(['a', 'b/c', 'b/d']);
    expect([...knownChanges(base, base)!]).toEqual([]);
    expect([knownChanges(wholeHead, head), knownChanges(base, wholeHead)]).toEqual([undefined, undefined]);
  });

  test('is touched where whole ones are', () => {
    const draft = new ChangedTree(base, [
      ['a', entry('head')],
      ['d', entry('d')],
      ['e', entry('draft')],
    ]);
    const touched = (h: Tree, d: Tree) =>
      touchedPaths({ base, head: h, draft: d }).sort((p, q) => (p.path < q.path ? -1 : 1));
    expect(touched(head, draft)).toEqual(touched(wholeTree(head), wholeTree(draft)));
    expect(touched(head, draft).map((t) => t.path)).toEqual(['a', 'b/c', 'b/d', 'e']);
  });
});
