/** Merges of one file that both sides edit. */
import type { Random } from '../../harness/random.ts';
import { WHOLE_EDITS, anyLength, chance, editRows, rowsOf, text, times } from './texts.ts';
import { fileOf } from './triple.ts';
import type { Files, Triple } from './triple.ts';

type Sides = Omit<Triple, 'generator'>;
type Edit = (source: string, random: Random, focus: number) => string;

const whole =
  (kind: keyof typeof WHOLE_EDITS): Edit =>
  (source, random) =>
    random.pick(WHOLE_EDITS[kind])(source, random);
const near: Edit = (source, random, focus) => editRows(source, random, { focus });

const either =
  (...edits: Edit[]): Edit =>
  (source, random, focus) =>
    random.pick(edits)(source, random, focus);
const both =
  (...edits: Edit[]): Edit =>
  (source, random, focus) =>
    edits.reduce((now, edit) => edit(now, random, focus), source);

const oneFile = (path: string, texts: [string, string, string], random: Random): Sides => {
  const [base, head, draft] = texts.map((t): Files => new Map([[path, fileOf(t, chance(random, 20))]]));
  return { base: base!, head: head!, draft: draft! };
};

/** Both sides edit near one place. One time in six they share an edit first. */
function lineMerge(random: Random, source: string, edit: Edit): Sides {
  const focus = random.below(rowsOf(source).length + 1);
  const shared = chance(random, 6) ? editRows(source, random, { focus }) : source;
  return oneFile('file', [source, edit(shared, random, focus), edit(shared, random, focus)], random);
}

const source = (random: Random, common?: number): string =>
  text(random, { length: anyLength(random), ...(common !== undefined && { common }) });

export const LINE_MERGES: Record<string, (random: Random) => Sides> = {
  lines: (random) => lineMerge(random, source(random), near),
  'repeated lines': (random) =>
    lineMerge(
      random,
      source(random, 9 + random.below(2)),
      either(near, (s, r, focus) => editRows(s, r, { focus, kinds: ['change', 'shift'], most: 4 })),
    ),
  'added and deleted at the ends': (random) =>
    lineMerge(
      random,
      source(random),
      either(whole('ends'), both(whole('ends'), near), both(whole('ends'), whole('ends'))),
    ),
  'moved blocks': (random) =>
    lineMerge(random, source(random, random.below(6)), (s, r, focus) =>
      editRows(s, r, { focus, kinds: ['shift', 'change', 'shift'] }),
    ),
  'whitespace and line ends': (random) =>
    lineMerge(
      random,
      random.pick(WHOLE_EDITS.endings)(source(random), random),
      either(near, whole('endings'), both(whole('endings'), near), (s, r, focus) =>
        editRows(s, r, { focus, kinds: ['space', 'change'] }),
      ),
    ),
  'any bytes': (random) =>
    lineMerge(
      random,
      chance(random, 2) ? random.pick(WHOLE_EDITS.bytes)(source(random), random) : source(random),
      either(near, near, whole('bytes'), both(whole('bytes'), near)),
    ),
  'large files': (random) =>
    lineMerge(random, largeText(random), (s, r, focus) =>
      editRows(s, r, { focus, kinds: ['change', 'change', 'shift'], most: 20 }),
    ),
};

/** Blocks as of a program, with a few of them many times. */
function largeText(random: Random): string {
  const blocks = times(
    12,
    (i) => `function f${i}(x) {\n${text(random, { length: 3 + random.below(9), common: 4 })}\n}\n\n`,
  );
  const rows = 1000 + random.below(1500);
  const parts: string[] = [];
  for (let length = 0; length < rows;) {
    const block = chance(random, 3)
      ? `const v${random.below(5000)} = ${random.below(9)};\n`
      : random.pick(blocks);
    parts.push(block);
    length += rowsOf(block).length;
  }
  return parts.join('');
}
