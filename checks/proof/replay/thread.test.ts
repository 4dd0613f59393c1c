/**
 * Real histories through the thread that merges for the service: trees go there by id and as what they
 * changed of each other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../../harness/random.ts';
import type { MergeInput } from '../../../packages/server/src/merge/merge-trees.ts';
import { createMergeEngine } from '../../../packages/server/src/merge/pool.ts';
import type { MergeRequest } from '../../../packages/server/src/merge/pool.ts';
import { replay } from './replay.ts';
import type { ReplayedMerge } from './replay.ts';
import type { Merge } from '../../../packages/server/src/merge/types.ts';
import type { Tree } from '../../../packages/server/src/trees/tree.ts';
import { withChanges } from '../../../packages/server/src/merge/with-changes.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-replay-pool-'));
const engine = createMergeEngine({ dir });
afterAll(async () => {
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const DRAWN = 20;

/** A commit's id is the id of its source: these histories have nothing that is left out. */
async function mergeInThread(
  { base, head, draft, readBlobs }: MergeInput,
  about: ReplayedMerge,
): Promise<Merge> {
  const ref = (id: string, tree: Tree): MergeRequest['base'] => ({ id, load: () => tree });
  const merge = await engine.merge({
    base: ref(about.base, base),
    head: ref(about.head, head),
    draft: ref(about.draft, draft),
    readBlobs,
  });
  expect([...merge.tree]).toEqual([...withChanges(head, merge.changes)]);
  return {
    ...merge,
    touched: [...new Set([base, head, draft].flatMap((tree) => [...tree.keys()]))],
    stages: new Map(),
  };
}

test.each([
  ['spinnaker', 376],
  ['desk', 35],
  ['storable', 19],
])('the thread merges %s as git does', { timeout: 120_000 }, async (name, merges) => {
  const repository = join(import.meta.dirname, `../../harness/histories/${name}.bundle`);
  const report = await replay({
    repository,
    reverts: DRAWN,
    below: createRandom(2).fork(name).below,
    merge: mergeInThread,
  });
  expect(report.differences).toEqual([]);
  expect(report.milliseconds).toHaveLength(merges + 3 * DRAWN);
});
