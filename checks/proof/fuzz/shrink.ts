import type { Judge } from './fuzz.ts';
import { rowsOf } from './texts.ts';
import { SIDES, asSource, fileOf, textOf } from './triple.ts';
import type { File, Files, Triple } from './triple.ts';

/** Candidates that are judged at once, and how often one is taken. */
const BATCH = 120;
const MAX_STEPS = 150;

/** A triple as small as it gets by leaving out while `judge` finds the same kind of difference. */
export async function shrink(triple: Triple, what: string, judge: Judge): Promise<Triple> {
  let smallest = triple;
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = await firstFailing(smallest, what, judge);
    if (!next) break;
    smallest = next;
  }
  return smallest;
}

async function firstFailing(triple: Triple, what: string, judge: Judge): Promise<Triple | undefined> {
  const size = sizeOf(triple);
  const candidates = [...smaller(triple)].filter((candidate) => sizeOf(candidate) < size);
  for (let at = 0; at < candidates.length; at += BATCH) {
    const batch = candidates.slice(at, at + BATCH);
    const failing = (await judge(batch)).findIndex(({ differences }) =>
      differences.some((d) => d.what === what),
    );
    if (failing !== -1) return batch[failing];
  }
  return undefined;
}

/** Files, their rows, and what a side changed, all count. */
function sizeOf(triple: Triple): number {
  let size = 0;
  for (const side of SIDES) {
    for (const [path, file] of triple[side]) {
      const isChanged = side !== 'base' && !sameFile(file, triple.base.get(path));
      size +=
        20 +
        path.length +
        (isChanged ? 30 : 0) +
        (file.executable ? 3 : 0) +
        2 * rowsOf(textOf(file)).length +
        Math.min(file.content.length, 20_000);
    }
  }
  for (const path of triple.base.keys())
    for (const side of ['head', 'draft'] as const) if (!triple[side].has(path)) size += 15;
  return size;
}

const sameFile = (a: File | undefined, b: File | undefined): boolean =>
  a === b ||
  (a !== undefined && b !== undefined && a.executable === b.executable && a.content.equals(b.content));

/** The boldest first. */
function* smaller(triple: Triple): Generator<Triple> {
  const paths = [...new Set(SIDES.flatMap((side) => [...triple[side].keys()]))];
  for (let length = paths.length >>> 1; length > 1; length >>>= 1) {
    for (let at = 0; at < paths.length; at += length)
      yield without(triple, SIDES, new Set(paths.slice(at, at + length)));
  }
  for (const path of paths) yield without(triple, SIDES, new Set([path]));
  for (const path of paths)
    for (const side of SIDES) if (triple[side].has(path)) yield without(triple, [side], new Set([path]));
  for (const path of paths) for (const side of ['head', 'draft'] as const) yield likeBase(triple, side, path);
  yield* contentsShrunk(triple);
  for (const side of SIDES)
    for (const [path, file] of triple[side])
      if (file.executable) yield withFile(triple, side, path, { ...file, executable: false });
}

function without(
  triple: Triple,
  sides: readonly (typeof SIDES)[number][],
  paths: ReadonlySet<string>,
): Triple {
  const next = { ...triple };
  for (const side of sides) next[side] = new Map([...triple[side]].filter(([path]) => !paths.has(path)));
  return next;
}

function likeBase(triple: Triple, side: 'head' | 'draft', path: string): Triple {
  const files: Files = new Map(triple[side]);
  const before = triple.base.get(path);
  if (before) files.set(path, before);
  else files.delete(path);
  return { ...triple, [side]: asSource(files) };
}

const withFile = (triple: Triple, side: (typeof SIDES)[number], path: string, file: File): Triple => ({
  ...triple,
  [side]: new Map(triple[side]).set(path, file),
});

/** Rows go from every content that has them, so that what was alike stays so; then from one file alone. */
function* contentsShrunk(triple: Triple): Generator<Triple> {
  const texts = [...new Set(SIDES.flatMap((side) => [...triple[side].values()].map(textOf)))];
  const longest = Math.max(0, ...texts.map((text) => rowsOf(text).length));
  const all = [...new Set(texts.flatMap(rowsOf))];
  for (let length = all.length >>> 1; length >= 1; length >>>= 1) {
    for (let at = 0; at < all.length; at += length) {
      const gone = new Set(all.slice(at, at + length));
      yield mapTexts(triple, (text) =>
        rowsOf(text)
          .filter((row) => !gone.has(row))
          .join(''),
      );
    }
  }
  for (let length = longest >>> 1; length >= 1; length >>>= 1) {
    for (let at = 0; at < longest; at += length)
      yield mapTexts(triple, (text) => rowsOf(text).toSpliced(at, length).join(''));
  }
  for (const side of SIDES) {
    for (const [path, file] of triple[side]) {
      const rows = rowsOf(textOf(file));
      for (let length = rows.length; length >= 1; length >>>= 1) {
        for (let at = 0; at < rows.length; at += length)
          yield withFile(triple, side, path, {
            ...file,
            content: fileOf(rows.toSpliced(at, length).join('')).content,
          });
      }
    }
  }
}

function mapTexts(triple: Triple, change: (text: string) => string): Triple {
  const files = (of: Files): Files =>
    new Map(
      [...of].map(([path, file]) => [path, { ...file, content: fileOf(change(textOf(file))).content }]),
    );
  return { ...triple, base: files(triple.base), head: files(triple.head), draft: files(triple.draft) };
}
