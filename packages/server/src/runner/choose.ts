/** A runner that has room for more work. */
export interface Candidate {
  boot_id: string;
  capacity: number;
  reserved: number;
  /** The share of its memory that is used, 0 where that is unknown. */
  used: number;
  /** Whether it keeps files of the project. */
  keeps: boolean;
}

/** Above this share of its places a runner takes no further work for the sake of the files that it keeps. */
export const WARM_LOAD = 0.8;
export const DRAWN = 3;

/** Of its places, those that are taken and half of what its memory says beyond them. */
const loadOf = ({ reserved, capacity, used }: Candidate): number => reserved / capacity + used / 2;

const best = (of: readonly Candidate[]): Candidate | undefined =>
  of.toSorted((a, b) => loadOf(a) - loadOf(b))[0];

/** Some of them, drawn without putting back. */
function draw(from: readonly Candidate[], random: () => number): Candidate[] {
  const left = [...from];
  return Array.from(
    { length: Math.min(DRAWN, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0]!,
  );
}

/**
 * Where work of a project begins: at a runner that keeps the project's files and is not crowded, else at the
 * best of three. Three that are drawn by chance, since many workers choose at once by the same figures: the best
 * of all would get all they have. `candidates` may be a draw itself, those first that keep the files.
 */
export function chooseRunner(
  candidates: readonly Candidate[],
  random: () => number = Math.random,
): Candidate | undefined {
  const warm = candidates.filter((one) => one.keeps && one.reserved / one.capacity < WARM_LOAD);
  return best(draw(warm.length > 0 ? warm : candidates, random));
}
