import type { Random } from '../../harness/random.ts';

/** The same members in an order that the seed decides. */
export function shuffled<T>(from: readonly T[], random: Random): T[] {
  const list = [...from];
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}
