/**
 * The merging thread keeps a head and a draft as what they changed of their base: that must make no
 * difference.
 */
import { expect, test } from 'vitest';
import { ChangedTree } from '../../../packages/server/src/merge/changed-tree.ts';
import { changesOf, mergeTrees } from '../../../packages/server/src/merge/merge-trees.ts';
import type { Tree } from '../../../packages/server/src/trees/tree.ts';
import { fuzzWith, withJudge } from './fuzz.ts';
import { rowOf } from './row.ts';

const told = (from: Tree, tree: Tree) =>
  new ChangedTree(
    from,
    changesOf(from, new Set([...from.keys(), ...tree.keys()]), (path) => tree.get(path)),
  );

test('changed trees merge as whole ones', { timeout: 120_000 }, async () => {
  const { failures } = await withJudge((judge) => fuzzWith(judge, { seed: 2, count: 150 }), {
    engine: (input) =>
      mergeTrees({ ...input, head: told(input.base, input.head), draft: told(input.base, input.draft) }),
  });
  expect(failures.map(rowOf).join('\n\n')).toBe('');
});
