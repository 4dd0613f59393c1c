/** Texts as programs have them, rich in lines that are the same, and edits of them. A character is a byte. */
import type { Random } from '../../harness/random.ts';

/** Lines that a merge cannot distinguish by themselves. */
const COMMON = ['}', '', '  }', '});', '{', '  return x;', 'end', '// note', '    break;', '\t}'];
const INVALID = ['\xff\xfe', '\xc3', '\xed\xa0\x80', '\xef\xbb\xbf', '\x80', '\xf0\x9f\x98'];

export const chance = (random: Random, oneIn: number): boolean => random.below(oneIn) === 0;
export const times = <T>(n: number, make: (i: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => make(i));

/** With their ends, so that a last line without one differs from one with it. */
export const rowsOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** @param common how many lines of ten are ones that are everywhere. */
export function row(random: Random, common: number): string {
  return `${random.below(10) < common ? random.pick(COMMON) : `line ${random.below(60)}`}\n`;
}

export function text(
  random: Random,
  { length, common = random.below(8) }: { length: number; common?: number },
): string {
  const rows = times(length, () => row(random, common)).join('');
  return chance(random, 10) ? rows.replace(/\n$/, '') : rows;
}

/** Mostly short, some empty, some of a screen. */
export const anyLength = (random: Random): number =>
  chance(random, 4) ? random.below(5) : chance(random, 4) ? 30 + random.below(60) : 4 + random.below(25);

type RowEdit = (rows: string[], at: number, random: Random) => void;

const fresh = (random: Random): string[] =>
  times(1 + random.below(3), () => (chance(random, 2) ? row(random, 9) : `new ${random.below(5)}\n`));

/** Each at a place from 0 to the count of rows. */
const ROW_EDITS: Record<'change' | 'shift' | 'space', RowEdit[]> = {
  change: [
    (rows, at, random) => {
      rows.splice(at, 1 + random.below(3), ...fresh(random));
    },
    (rows, at, random) => {
      rows.splice(at, 1, ...fresh(random).slice(0, 1));
    },
    (rows, at, random) => {
      rows.splice(at, 0, ...fresh(random));
    },
    (rows, at, random) => {
      rows.splice(at, 1 + random.below(4));
    },
  ],
  shift: [
    (rows, at) => {
      rows.splice(at, 0, ...rows.slice(at, at + 1));
    },
    (rows, at, random) => {
      const moved = rows.splice(at, 1 + random.below(6));
      rows.splice(random.below(rows.length + 1), 0, ...moved);
    },
    (rows, at, random) => {
      const copied = rows.slice(at, at + 1 + random.below(6));
      rows.splice(random.below(rows.length + 1), 0, ...copied);
    },
    (rows, at) => {
      rows.splice(at, 2, ...rows.slice(at, at + 2).reverse());
    },
    (rows, at) => {
      if (at < rows.length) rows[at] = `  ${rows[at]!}`;
      rows.splice(at, 0, 'if (a) {\n');
      rows.splice(at + 2, 0, '}\n');
    },
  ],
  space: [
    (rows, at) => {
      if (at < rows.length) rows[at] = `  ${rows[at]!}`;
    },
    (rows, at) => {
      if (at < rows.length) rows[at] = rows[at]!.replace('\n', ' \n');
    },
    (rows, at) => {
      if (at < rows.length) rows[at] = rows[at]!.replace(/\r?\n/, (end) => (end === '\n' ? '\r\n' : '\n'));
    },
    (rows, at) => {
      rows.splice(at, 0, '\n');
    },
    (rows, at) => {
      if (rows[at] === '\n') rows.splice(at, 1);
    },
  ],
};

type Edits = keyof typeof ROW_EDITS;

/** @param focus a place where the other side edits too: most edits are near. */
export function editRows(
  source: string,
  random: Random,
  { focus, kinds = ['change'], most = 3 }: { focus?: number; kinds?: Edits[]; most?: number },
): string {
  const rows = rowsOf(source);
  for (let n = 1 + random.below(most); n > 0; n--) {
    const near =
      focus === undefined || chance(random, 3) ? random.below(rows.length + 1) : focus + random.below(5) - 2;
    const at = Math.max(0, Math.min(rows.length, near));
    closeRow(rows, at);
    random.pick(ROW_EDITS[random.pick(kinds)])(rows, at, random);
  }
  return rows.join('');
}

/** What follows a row without an end would become a part of it. */
function closeRow(rows: string[], at: number): void {
  const last = rows.length - 1;
  if (at > last && last >= 0 && !rows[last]!.endsWith('\n')) rows[last] += '\n';
}

/** Edits of a text as a whole. */
export const WHOLE_EDITS: Record<
  'ends' | 'endings' | 'bytes',
  ((source: string, random: Random) => string)[]
> = {
  ends: [
    (source, random) => fresh(random).join('') + source,
    (source, random) =>
      (/[^\n]$/.test(source) && chance(random, 2) ? source : source.replace(/([^\n])$/, '$1\n')) +
      fresh(random).join(''),
    (source, random) =>
      rowsOf(source)
        .slice(1 + random.below(2))
        .join(''),
    (source, random) =>
      rowsOf(source)
        .slice(0, -1 - random.below(2))
        .join(''),
  ],
  endings: [
    (source) => source.replaceAll(/\r?\n/g, '\r\n'),
    (source) => source.replaceAll('\r\n', '\n'),
    (source) => (source.endsWith('\n') ? source.replace(/\r?\n$/, '') : `${source}\n`),
    (source) => source.replaceAll('\n', '\r'),
    (source) => source.replaceAll(/^ +/gm, (spaces) => '\t'.repeat(spaces.length)),
    (source) => source.replaceAll(/\n+/g, '\n'),
    () => '',
  ],
  bytes: [
    (source, random) => insertAt(source, random.below(source.length + 1), random.pick(INVALID)),
    (source, random) => insertAt(source, random.below(source.length + 1), '\0'),
    (source) => `\xef\xbb\xbf${source}`,
    (source) => `${source}\0`,
    (source, random) =>
      times(1 + random.below(40), () => String.fromCodePoint(random.below(256))).join('') +
      source.slice(0, random.below(200)),
    () => '',
  ],
};

const insertAt = (source: string, at: number, what: string): string =>
  source.slice(0, at) + what + source.slice(at);

/**
 * About `share` of the rows replaced, none of them kept elsewhere: how alike two files are, as git counts
 * it, is 1 - share.
 */
export function rewrite(source: string, random: Random, share: number): string {
  const rows = rowsOf(source);
  const order = rows.map((_, i) => i);
  for (let n = Math.round(rows.length * share); n > 0; n--) {
    const [at] = order.splice(random.below(order.length), 1);
    rows[at!] = `other ${random.below(90)}\n`;
  }
  return rows.join('');
}
