/** Git patches on a terminal: colours, changed words, escapes of what would move the cursor. */
import stringWidth from 'fast-string-width';
import { oneLine, shown } from './escape.ts';
import type { Color, Paint } from './style.ts';
import { countOf } from './count.ts';

interface Look {
  paint: Paint;
  /** Marks the changed words in changed lines: by colour, or as `[-old-]` and `{+new+}`. */
  words?: boolean;
}

/** One or more whole git patches. */
export function paintPatch(patch: string, { paint, words = false }: Look): string {
  const lines = patch.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const painted: string[] = [];
  // The lines that the hunk still has; a line like `--- x` in it is no header.
  let [before, after] = [0, 0];
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    if (before <= 0 && after <= 0) {
      [before, after] = hunkSize(line);
      painted.push(headerOf(line, paint));
      at++;
    } else if (line.startsWith('-') || line.startsWith('+')) {
      const { removed, added } = blockAt(lines, at, { before, after });
      painted.push(...(words ? wordLines(removed, added, paint) : wholeLines(removed, added, paint)));
      at += removed.length + added.length;
      before -= removed.length;
      after -= added.length;
    } else {
      if (!line.startsWith('\\')) [before, after] = [before - 1, after - 1];
      painted.push(shown(line));
      at++;
    }
  }
  return painted.map((line) => `${line}\n`).join('');
}

/** The lines of both sides that follow `@@ -1,3 +1,4 @@`. */
function hunkSize(line: string): [before: number, after: number] {
  const [, before = '1', after = '1'] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? [
    '',
    '0',
    '0',
  ];
  return [Number(before), Number(after)];
}

function headerOf(line: string, paint: Paint): string {
  const [, place, rest = ''] = /^(@@ .*? @@)(.*)$/.exec(line) ?? [];
  if (place !== undefined) return paint('cyan', place) + shown(rest);
  return line.startsWith('\\') ? shown(line) : paint('bold', shown(line));
}

/** Removed lines and the added ones that follow them, with their signs. `\ No newline` ends each side. */
function blockAt(lines: readonly string[], from: number, left: { before: number; after: number }) {
  const take = (at: number, sign: string, most: number) => {
    const end = lines.findIndex((line, index) => index >= at && !line.startsWith(sign));
    return lines.slice(at, Math.min(end === -1 ? lines.length : end, at + most));
  };
  const removed = take(from, '-', left.before);
  const added = take(from + removed.length, '+', left.after);
  // A damaged patch: the line counts as what it seems to be, so that every pass moves on.
  return removed.length + added.length > 0 ? { removed, added } : { removed: [lines[from]!], added: [] };
}

const COLORS = { '-': 'red', '+': 'green' } as const satisfies Record<string, Color>;

const wholeLines = (removed: readonly string[], added: readonly string[], paint: Paint): string[] => [
  ...removed.map((line) => paint('red', shown(line))),
  ...added.map((line) => paint('green', shown(line))),
];

/** The table of a comparison has so many cells at most; larger blocks are not compared word by word. */
const MOST_CELLS = 1_000_000;

function wordLines(removed: readonly string[], added: readonly string[], paint: Paint): string[] {
  const [old, now] = [removed, added].map((lines) => lines.map((line) => line.slice(1)).join('\n'));
  const [before, after] = [wordsOf(old!), wordsOf(now!)];
  if (removed.length === 0 || added.length === 0 || before.length * after.length > MOST_CELLS)
    return wholeLines(removed, added, paint);
  const kept = commonWords(before, after);
  // Nothing in common but spaces and brackets: the lines as a whole have changed.
  if (![...kept.before].some((at) => /[\p{L}\p{N}]/u.test(before[at]!)))
    return wholeLines(removed, added, paint);
  return [...markedLines('-', before, kept.before, paint), ...markedLines('+', after, kept.after, paint)];
}

const wordsOf = (text: string): string[] => text.match(/\n|[\p{L}\p{N}_]+|[^\S\n]+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** The places of a longest common subsequence on both sides. */
function commonWords(before: readonly string[], after: readonly string[]) {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const kept = { before: new Set<number>(), after: new Set<number>() };
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) {
      kept.before.add(i++);
      kept.after.add(j++);
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  }
  return kept;
}

function markedLines(
  sign: '-' | '+',
  words: readonly string[],
  kept: ReadonlySet<number>,
  paint: Paint,
): string[] {
  const isColored = paint('red', sign) !== sign;
  const mark = (text: string) =>
    text === '' ? '' : isColored ? paint('inverse', text) : sign === '-' ? `[-${text}-]` : `{+${text}+}`;
  const lines: string[] = [];
  let [line, changed] = ['', ''];
  const endWord = () => {
    line += mark(changed);
    changed = '';
  };
  for (const [at, word] of [...words, '\n'].entries()) {
    if (word !== '\n' && !kept.has(at)) {
      changed += shown(word);
      continue;
    }
    endWord();
    if (word !== '\n') line += shown(word);
    else {
      lines.push(paint(COLORS[sign], sign + line));
      line = '';
    }
  }
  return lines;
}

// Lists of changed files.

interface Counted {
  path: string;
  oldPath?: string;
  binary: boolean;
  additions: number;
  deletions: number;
}

const WIDEST_GRAPH = 40;
const PIPE_COLUMNS = 80;

/** As `git diff --stat`. `width`: columns of the terminal, or null without one. */
export function diffStat(
  files: readonly Counted[],
  { width, paint }: { width: number | null; paint: Paint },
): string {
  const columns = width ?? PIPE_COLUMNS;
  const names = files.map(({ path, oldPath }) =>
    oneLine(oldPath === undefined ? path : `${oldPath} → ${path}`),
  );
  const counts = files.map(({ binary, additions, deletions }) =>
    binary ? 'Bin' : String(additions + deletions),
  );
  const countWidth = Math.max(0, ...counts.map(({ length }) => length));
  const fixed = 4 + countWidth;
  const most = Math.max(0, ...files.map(({ additions, deletions }) => additions + deletions));
  const graphWidth = Math.min(most, WIDEST_GRAPH, Math.floor(columns / 3));
  const nameWidth = Math.min(
    Math.max(0, ...names.map((name) => stringWidth(name))),
    columns - fixed - graphWidth - 1,
  );
  const lines = files.map(({ additions, deletions }, at) => {
    const name = endOf(names[at]!, nameWidth);
    const [plus, minus] = graphOf(additions, deletions, graphWidth / Math.max(most, graphWidth));
    const graph = paint('green', '+'.repeat(plus)) + paint('red', '-'.repeat(minus));
    return ` ${name}${' '.repeat(nameWidth - stringWidth(name))} | ${counts[at]!.padStart(countWidth)} ${graph}`.trimEnd();
  });
  return [...lines, sumOf(files)].join('\n');
}

/** At least one sign for what there is of each. */
const graphOf = (additions: number, deletions: number, scale: number): [number, number] => {
  const signs = (count: number) => (count === 0 ? 0 : Math.max(1, Math.floor(count * scale)));
  return [signs(additions), signs(deletions)];
};

function sumOf(files: readonly Counted[]): string {
  const sum = (member: 'additions' | 'deletions') => files.reduce((total, file) => total + file[member], 0);
  const [added, deleted] = [sum('additions'), sum('deletions')];
  return [
    ` ${countOf(files.length, 'file')} changed`,
    ...(added > 0 ? [`${countOf(added, 'insertion')}(+)`] : []),
    ...(deleted > 0 ? [`${countOf(deleted, 'deletion')}(-)`] : []),
  ].join(', ');
}

/** The text's end, after `…`, if it has more than `width` columns. */
function endOf(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const { segment } of [...new Intl.Segmenter().segment(text)].reverse()) {
    const columns = stringWidth(segment);
    if (used + columns > width) break;
    kept = segment + kept;
    used += columns;
  }
  return `…${kept}`;
}
