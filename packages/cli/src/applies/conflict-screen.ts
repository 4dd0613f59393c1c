/** What a person sees of a conflict: its three sides, side by side where they fit. Bounded, whatever the file holds. */
import type { ConflictFile, ConflictSide } from '@headrace/client';
import stringWidth from 'fast-string-width';
import { wrapped } from '../core/help.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import type { Color, Paint } from '../terminal/style.ts';
import { cut } from '../terminal/table.ts';
import { bytes } from '../terminal/times.ts';
import type { Conflict } from './decisions.ts';
import { regionsOf } from './regions.ts';
import type { Region } from './regions.ts';

export interface View {
  width: number;
  paint: Paint;
}
interface Shown {
  conflict: Conflict;
  file: ConflictFile;
  /** Which one of how many, from 1. */
  place: number;
  count: number;
}

const SIDES = ['base', 'head', 'draft'] as const;
type Side = (typeof SIDES)[number];
const COLORS: Readonly<Record<Side, Color>> = { base: 'dim', head: 'cyan', draft: 'magenta' };
/** Of a screen, and of one side of a region. */
const MOST_LINES = 60;
const MOST_OF_SIDE = 16;
const EXCERPT_LINES = 8;
const GAP = ' │ ';
/** Columns narrower than this are unreadable; wider ones hold most lines of code. */
const NARROWEST = 16;
const COMFORTABLE = 38;
const TAB = '    ';

export function conflictScreen({ conflict, file, place, count }: Shown, view: View): string {
  const { width, paint } = view;
  const regions = regionsOf(conflict, file);
  return [
    `${paint('bold', `Conflict ${place} of ${count}`)}  ${cut(oneLine(file.path), width - 24)}`,
    wrapped(wordsOf(file), width).join('\n'),
    ...SIDES.map((side) => cut(`  ${side.padEnd(5)}  ${describe(side, file[side])}`, width)),
    ...(regions.length > 0 ? regionLines(regions, view) : excerptLines(file, view)),
  ].join('\n');
}

function wordsOf({ kind, base, head, draft }: ConflictFile): string {
  switch (kind) {
    case 'content':
      return 'Both changed the same lines.';
    case 'add_add':
      return 'Both added it, with different contents.';
    case 'delete_modify':
      return head
        ? 'The head changed it, and the draft deleted it.'
        : 'The head deleted it, and the draft changed it.';
    case 'rename':
      return 'It was moved. Each of its paths is decided on its own.';
    case 'mode':
      return 'Both have the same contents, but only one is executable.';
    case 'binary':
      return base ? 'Both changed it, and it is not text.' : 'Both added it, and it is not text.';
    case 'path':
      return head && draft
        ? 'Its name collides with another one.'
        : `Only the ${head ? 'head' : 'draft'} has it; its name collides with one of the other side.`;
  }
}

function describe(side: Side, file: ConflictSide | null): string {
  if (!file) return side === 'base' ? 'no file yet' : 'no file';
  const isText = file.encoding === 'utf8';
  return [
    bytes(file.byteSize),
    file.content === null ? 'too large to show' : isText ? null : 'not text',
    file.executable ? 'executable' : null,
  ]
    .filter((part) => part !== null)
    .join(', ');
}

function regionLines(regions: readonly Region[], view: View): string[] {
  const lines: string[] = [];
  for (const [at, region] of regions.entries()) {
    const own = oneRegion(region, view);
    if (at > 0 && lines.length + own.length > MOST_LINES) {
      const more = regions.length - at;
      return [
        ...lines,
        view.paint('dim', `… ${more} more ${more === 1 ? 'place' : 'places'}; v shows it all`),
      ];
    }
    lines.push(...own);
  }
  return lines;
}

function oneRegion(region: Region, view: View): string[] {
  const { width, paint } = view;
  const sides = SIDES.flatMap((side) => {
    const lines = region[side];
    return lines === null ? [] : [{ side, lines }];
  });
  // Line ends are in view only where they differ.
  const isCrlf = sides.every(({ lines }) => lines.every((line) => line.endsWith('\r')));
  const text = (line: string, most: number) => visible(isCrlf ? line.replace(/\r$/, '') : line, most);
  const context = (lines: readonly string[]) =>
    lines.map((line) => paint('dim', `  ${visible(line.replace(/\r$/, ''), width - 2)}`.trimEnd()));
  const column = Math.floor((width - GAP.length * (sides.length - 1)) / sides.length);
  const longest = Math.max(
    ...sides.flatMap(({ lines }) =>
      lines.slice(0, MOST_OF_SIDE).map((line) => stringWidth(text(line, width))),
    ),
    0,
  );
  const isWide = column >= NARROWEST && column >= Math.min(longest, COMFORTABLE);
  return [
    paint('dim', `line ${region.line}`),
    ...context(region.before),
    ...(isWide ? columnLines(sides, { column, text, paint }) : stackedLines(sides, { width, text, paint })),
    ...context(region.after),
  ];
}

interface SideLines {
  side: Side;
  lines: string[];
}
type Text = (line: string, most: number) => string;

function columnLines(
  sides: readonly SideLines[],
  { column, text, paint }: { column: number; text: Text; paint: Paint },
) {
  const cells = sides.map(({ side, lines }): { text: string; color: Color }[] => [
    { text: side, color: 'bold' },
    ...bounded(lines).map((line) => ({ text: text(line, column), color: COLORS[side] })),
  ]);
  const height = Math.max(...cells.map((list) => list.length));
  return Array.from({ length: height }, (_, row) =>
    cells
      .map((list, at) => {
        const cell = list[row] ?? { text: '', color: 'dim' as Color };
        const space = at === cells.length - 1 ? '' : ' '.repeat(Math.max(0, column - stringWidth(cell.text)));
        return paint(cell.color, cell.text) + space;
      })
      .join(GAP)
      .trimEnd(),
  );
}

function stackedLines(
  sides: readonly SideLines[],
  { width, text, paint }: { width: number; text: Text; paint: Paint },
) {
  return sides.flatMap(({ side, lines }) =>
    (lines.length > 0 ? bounded(lines) : ['(nothing)']).map((line, at) => {
      const label = (at === 0 ? side : '').padEnd(5);
      return paint(COLORS[side], `${label} | ${text(line, width - 8)}`.trimEnd());
    }),
  );
}

function bounded(lines: readonly string[]): string[] {
  if (lines.length <= MOST_OF_SIDE) return [...lines];
  return [...lines.slice(0, MOST_OF_SIDE - 1), `… ${lines.length - MOST_OF_SIDE + 1} more lines`];
}

/** The beginning of what each side has, where there are no regions to show. */
function excerptLines(file: ConflictFile, { width, paint }: View): string[] {
  if (file.kind === 'mode') return [];
  return (['head', 'draft'] as const).flatMap((side) => {
    const content = file[side]?.encoding === 'utf8' ? file[side].content : null;
    if (!content) return [];
    const lines = content.replace(/\n$/, '').split('\n', EXCERPT_LINES + 1);
    const more = lines.length > EXCERPT_LINES;
    return [
      paint('bold', side),
      ...lines
        .slice(0, EXCERPT_LINES)
        .map((line) => paint(COLORS[side], `  ${visible(line.replace(/\r$/, ''), width - 2)}`.trimEnd())),
      ...(more ? [paint('dim', '  …')] : []),
    ];
  });
}

/** One line of a stranger's text, without control characters, in at most so many columns. */
function visible(line: string, most: number): string {
  // A line may have a million characters: only its beginning is looked at.
  return cut(shown(line.slice(0, most * 4)).replaceAll('\t', TAB), most);
}
