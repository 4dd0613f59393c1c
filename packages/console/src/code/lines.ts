/** Where each line starts. */
export function lineStarts(text: string): Uint32Array {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  const starts = new Uint32Array(count);
  let line = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts[++line] = at + 1;
  return starts;
}

/** Line `index` of `text`, counted from 0, without its line feed. */
export function lineOf(text: string, starts: Uint32Array, index: number): string {
  const from = starts[index] ?? text.length;
  const to = index + 1 < starts.length ? starts[index + 1]! - 1 : text.length;
  return text.slice(from, to);
}
