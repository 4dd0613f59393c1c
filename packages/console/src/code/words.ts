/** Words by which two lines differ. */
const LONGEST = 2000;
const CELLS = 40_000;
const TOKEN = /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;

/** Ranges of characters, flat: from, to, from, to. */
export interface WordDiff {
  removed: number[];
  added: number[];
}

/** Differing words of two lines; null if they have too little in common, or are too long, to mark words. */
export function diffWords(before: string, after: string): WordDiff | null {
  if (before.length > LONGEST || after.length > LONGEST) return null;
  const left = before.match(TOKEN) ?? [];
  const right = after.match(TOKEN) ?? [];
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head++;
  let tail = 0;
  const most = Math.min(left.length, right.length) - head;
  while (tail < most && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
  const keptLeft = new Uint8Array(left.length).fill(1, 0, head).fill(1, left.length - tail);
  const keptRight = new Uint8Array(right.length).fill(1, 0, head).fill(1, right.length - tail);
  const inLeft = left.slice(head, left.length - tail);
  const inRight = right.slice(head, right.length - tail);
  if (inLeft.length * inRight.length > CELLS) return null;
  for (const [from, to] of commonTokens(inLeft, inRight)) {
    keptLeft[head + from] = 1;
    keptRight[head + to] = 1;
  }
  const kept = weight(left, keptLeft);
  const longer = Math.max(weight(left), weight(right));
  if (kept * 4 < longer) return null;
  return { removed: ranges(left, keptLeft), added: ranges(right, keptRight) };
}

/** Longest common subsequence, as pairs of indices. */
function commonTokens(left: string[], right: string[]): [number, number][] {
  const width = right.length + 1;
  const best = new Uint16Array((left.length + 1) * width);
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      best[row * width + column] =
        left[row] === right[column]
          ? best[(row + 1) * width + column + 1]! + 1
          : Math.max(best[(row + 1) * width + column]!, best[row * width + column + 1]!);
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < left.length && column < right.length;) {
    if (left[row] === right[column]) pairs.push([row++, column++]);
    else if (best[(row + 1) * width + column]! >= best[row * width + column + 1]!) row++;
    else column++;
  }
  return pairs;
}

/** Characters that are no white space. */
function weight(tokens: string[], kept?: Uint8Array): number {
  let sum = 0;
  for (const [index, token] of tokens.entries())
    if ((kept === undefined || kept[index] === 1) && token.trim() !== '') sum += token.length;
  return sum;
}

function ranges(tokens: string[], kept: Uint8Array): number[] {
  const found: number[] = [];
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    const end = at + token.length;
    if (kept[index] === 0) {
      // White space between two differing words belongs to them.
      if (found.at(-1) === at) found[found.length - 1] = end;
      else found.push(at, end);
    }
    at = end;
  }
  return found;
}
