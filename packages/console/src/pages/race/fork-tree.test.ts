import { expect, test } from 'vitest';
import { forkTrees } from './fork-tree.ts';
import type { ForkNode } from './fork-tree.ts';
import type { ThreadOf } from './strands.ts';

const thread = (id: string, at: number, parent: string | null = null): ThreadOf => ({
  id,
  title: id,
  status: 'ready',
  sourceId: null,
  latestSourceId: null,
  forkedFrom: parent === null ? null : { threadId: parent, checkpointId: null, sourceId: 'src_1' },
  archivedAt: null,
  createdAt: `2026-01-01T00:00:0${at}.000Z`,
  updatedAt: '2026-01-01T00:00:00.000Z',
});
const shape = (nodes: ForkNode[]): unknown[] =>
  nodes.map(({ thread: { id }, forks, isParentUnread }) => [id + (isParentUnread ? '?' : ''), shape(forks)]);

test('forks stand below what they are of, oldest first; the newest family is first', () => {
  const threads = [
    thread('d', 5, 'b'),
    thread('alone', 6),
    thread('c', 4, 'a'),
    thread('b', 3, 'a'),
    thread('a', 1),
    thread('z', 7, 'y'),
    thread('y', 2),
  ];
  expect(shape(forkTrees(threads))).toEqual([
    ['y', [['z', []]]],
    [
      'a',
      [
        ['b', [['d', []]]],
        ['c', []],
      ],
    ],
  ]);
});

test('a fork of a thread that is deleted, or not read, is shown as that', () => {
  expect(shape(forkTrees([thread('c', 2, 'gone'), thread('e', 3, 'c')]))).toEqual([['c?', [['e', []]]]]);
});
