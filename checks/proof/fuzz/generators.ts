import { createRandom } from '../../harness/random.ts';
import { LINE_MERGES } from './line-merges.ts';
import { TREE_MERGES } from './tree-merges.ts';
import { asSource } from './triple.ts';
import type { Triple } from './triple.ts';

const GENERATORS = { ...LINE_MERGES, ...TREE_MERGES };
/** Of a thousand triples so many are large ones, of each kind: they cost as much as a hundred others. */
const LARGE = 4;
const LARGE_KINDS = ['large files', 'large trees'];
const KINDS = Object.keys(GENERATORS).filter((name) => !LARGE_KINDS.includes(name));

/** The triple `index` of `seed`: the same at every run, whatever others are generated. */
export function generate(seed: number, index: number): Triple {
  const random = createRandom(seed).fork(`triple ${index}`);
  const drawn = random.below(1000);
  const generator =
    drawn < LARGE * LARGE_KINDS.length ? LARGE_KINDS[drawn % LARGE_KINDS.length]! : random.pick(KINDS);
  const { base, head, draft } = GENERATORS[generator]!(random);
  return { generator, base: asSource(base), head: asSource(head), draft: asSource(draft) };
}
