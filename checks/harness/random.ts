/** Random numbers that are the same at every run with the same seed. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T;
  /** Makes an independent generator, so that what several actors draw does not depend on their order. */
  fork(name: string): Random;
}

export function createRandom(seed: number): Random {
  const next = mulberry32(seed);
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    pick: (from) => from[below(from.length)]!,
    fork: (name) => createRandom(hash(seed, name)),
  };
}

export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** FNV-1a. */
function hash(seed: number, text: string): number {
  let value = (seed ^ 0x811c9dc5) >>> 0;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
