/** How many lines have to be the same again for two texts to go on alike. */
const ALIKE = 3;

/**
 * `merged` without the first stretch of lines in which it differs from `side`: what the other side did
 * there is lost.
 */
export function dropHunk(merged: string, side: string): string {
  const [a, b] = [merged.split('\n'), side.split('\n')];
  const from = a.findIndex((line, i) => line !== b[i]);
  if (from === -1) throw new Error('both are the same');
  for (let length = 1; length <= a.length + b.length; length++) {
    for (let dropped = 0; dropped <= length; dropped++) {
      const [afterA, afterB] = [from + dropped, from + length - dropped];
      if (isAlike(a, afterA, b, afterB))
        return [...a.slice(0, from), ...b.slice(from, afterB), ...a.slice(afterA)].join('\n');
    }
  }
  return side;
}

const isAlike = (a: string[], atA: number, b: string[], atB: number): boolean => {
  const next = a.slice(atA, atA + ALIKE);
  return next.length > 0 && next.every((line, i) => line === b[atB + i]);
};
