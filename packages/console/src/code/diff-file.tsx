import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useLayoutEffect, useMemo } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { count } from '../ui/values.tsx';
import { DiffRow } from './diff-row.tsx';
import type { LineRange, RowsShown } from './diff-row.tsx';
import {
  GAP,
  HEAD_HEIGHT,
  NOTE_HEIGHT,
  bodyHeight,
  bodyOf,
  guessBody,
  heightsOf,
  sideOf,
  widestOf,
} from './diff-list.ts';
import type { DiffCache, DiffFile } from './diff-list.ts';
import type { DiffRows } from './diff-rows.ts';
import { HEAD } from './diff-spot.ts';
import { rowsBetween, topOf } from './heights.ts';
import type { Heights } from './heights.ts';
import { useHighlights } from './highlight.ts';
import { languageOf } from './language.ts';
import { Plain } from './plain.tsx';

/** How a diff is shown. A split one wraps its lines. */
export interface DiffLook {
  split: boolean;
  wrap: boolean;
  ignoreSpace: boolean;
  words: boolean;
}

/** Width of the screen, and of a character. */
export interface Screen {
  width: number;
  cell: number;
}

export interface FileProps {
  file: DiffFile;
  index: number;
  /** Names both sources, for the cache of colours. */
  pair: string;
  cache: DiffCache;
  look: DiffLook;
  find: string;
  folded: boolean;
  viewed: boolean;
  current: boolean;
  selected: LineRange | null;
  /** The row that the keys are at: -1 for the head; null if it is in another file. */
  cursor: number | null;
  /** Of a row's element, with its index. */
  id: string;
  /** Why the patch could not be read. */
  problem: string | undefined;
  /** Number of the head's row in the table, from 1. */
  number: number;
  /** Pixels of the file, from its head on, that are on the screen. */
  top: number;
  bottom: number;
  screen: Screen;
  onFold: (file: DiffFile, index: number, folded: boolean) => void;
  onViewed: ((file: DiffFile, index: number, viewed: boolean) => void) | undefined;
  onHeight: (index: number, height: number) => void;
  onRetry: ((file: DiffFile) => void) | undefined;
}

const STATUS: Record<string, { word: string; mark: string }> = {
  added: { word: 'added', mark: '+' },
  modified: { word: 'changed', mark: '•' },
  deleted: { word: 'deleted', mark: '−' },
  renamed: { word: 'renamed', mark: '→' },
  mode: { word: 'mode', mark: '±' },
};

/** Word and mark of a file's status; later ones show as they are. */
export function fileStatus(status: string): { word: string; mark: string } {
  return STATUS[status] ?? { word: status, mark: '?' };
}

/** A file of a diff: its head, which stays at the top, and those of its rows that are on the screen. */
export const DiffFileRows = memo(function DiffFileRows(props: FileProps): ReactNode {
  const body = props.folded ? null : bodyOf(props.file);
  return (
    <>
      <FileHead {...props} />
      {body === 'rows' && <FileRows {...props} />}
      {body !== null && body !== 'rows' && <FileNote {...props} />}
    </>
  );
});

function FileHead(props: FileProps): ReactNode {
  const { file, index, folded, viewed, current, cursor, id, number, onFold, onViewed } = props;
  const { word, mark } = fileStatus(file.status);
  return (
    <div
      className={`diff-head ${current ? 'is-current' : ''} ${cursor === HEAD ? 'code-current' : ''}`}
      role="row"
      id={`${id}${HEAD}`}
      aria-rowindex={number}
    >
      <span role="gridcell" className="flex">
        <button
          type="button"
          data-head={index}
          className="flex size-6 items-center justify-center rounded text-ink-2 hover:bg-sunk"
          aria-expanded={!folded}
          aria-label={`${folded ? 'Unfold' : 'Fold'} ${file.path}`}
          onClick={() => onFold(file, index, !folded)}
        >
          {folded ? <ChevronRight size={16} aria-hidden /> : <ChevronDown size={16} aria-hidden />}
        </button>
      </span>
      <span role="gridcell" className="flex-none text-12 text-ink-2">
        <span aria-hidden className="inline-block w-4 text-center font-mono">
          {mark}
        </span>
        {word}
      </span>
      <span role="rowheader" className="diff-path flex-1" title={file.path}>
        {file.oldPath !== undefined && file.oldPath !== file.path && (
          <span className="text-ink-2">
            <Plain text={file.oldPath} /> →{' '}
          </span>
        )}
        <Plain text={file.path} />
      </span>
      <span role="gridcell" className="flex-none">
        {file.additions + file.deletions > 0 && <Counts {...file} />}
      </span>
      {onViewed !== undefined && (
        <span role="gridcell" className="flex flex-none">
          <label className="flex h-6 items-center gap-1 text-12 text-ink-2">
            <input
              type="checkbox"
              checked={viewed}
              onChange={(event) => onViewed(file, index, event.currentTarget.checked)}
              aria-label={`Viewed ${file.path}`}
            />
            <span aria-hidden className="max-sm:hidden">
              Viewed
            </span>
          </label>
        </span>
      )}
    </div>
  );
}

/** Counts of added and removed lines. */
export function Counts({ additions, deletions }: { additions: number; deletions: number }): ReactNode {
  return (
    <span
      className="font-mono text-12 whitespace-nowrap"
      role="img"
      aria-label={`${count(additions)} added, ${count(deletions)} removed`}
    >
      <span className="text-added-mark">+{count(additions)}</span>{' '}
      <span className="text-removed-mark">−{count(deletions)}</span>
    </span>
  );
}

function FileNote({ file, index, problem, number, onHeight, onRetry }: FileProps): ReactNode {
  const body = bodyOf(file);
  const height = problem === undefined ? guessBody(file) : NOTE_HEIGHT;
  useLayoutEffect(() => onHeight(index, HEAD_HEIGHT + height + GAP), [index, height, onHeight]);
  const texts = {
    rows: '',
    binary: 'Binary file.',
    truncated: 'Too large, or not UTF-8: it cannot be compared here.',
    unchanged: file.status === 'mode' ? 'Only the file mode changed.' : 'No line changed.',
    missing: problem === undefined ? 'Loading…' : `${problem} `,
  };
  return (
    <div role="row" aria-rowindex={number + 1} style={{ height }}>
      <div className="diff-note" role="gridcell">
        {texts[body]}
        {problem !== undefined && (
          <button type="button" className="text-water underline" onClick={() => onRetry?.(file)}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

function FileRows(props: FileProps): ReactNode {
  const { file, index, pair, cache, look, number, top, bottom, screen, onHeight } = props;
  const { split, ignoreSpace } = look;
  const rows = cache.rows(file, look);
  const wraps = split || look.wrap;
  const { width, cell } = screen;
  const { digits, heights } = useMemo(
    () => layoutOf(rows, { split, wrap: look.wrap }, { width, cell }),
    [rows, split, look.wrap, width, cell],
  );
  const widest = useMemo(() => (wraps ? 0 : widestOf(rows)), [rows, wraps]);
  const height = bodyHeight(heights);
  useLayoutEffect(() => onHeight(index, HEAD_HEIGHT + height + GAP), [index, height, onHeight]);

  const old = useMemo(() => sideOf(rows, 'old'), [rows]);
  const fresh = useMemo(() => sideOf(rows, 'new'), [rows]);
  const key = (side: string) => `${pair}:${side}:${file.path}`;
  const language = languageOf(file.path);
  const oldColours = useHighlights(old && key('old'), old?.text ?? '', languageOf(file.oldPath ?? file.path));
  const newColours = useHighlights(fresh && key('new'), fresh?.text ?? '', language);
  const { words } = look;
  const { find, selected, cursor, id } = props;
  const shown: RowsShown = useMemo(
    () => ({
      rows,
      split,
      words,
      find,
      selected,
      cursor,
      id,
      sides: { old: { side: old, highlights: oldColours }, new: { side: fresh, highlights: newColours } },
    }),
    [rows, split, words, find, selected, cursor, id, old, oldColours, fresh, newColours],
  );

  if (rows.length === 0)
    return (
      <div role="row" aria-rowindex={number + 1} style={{ height }}>
        <div className="diff-note" role="gridcell">
          {ignoreSpace && rows.patch.length > 0 ? 'Only white space changed.' : 'No line changed.'}
        </div>
      </div>
    );
  const [from, to] = rowsBetween(heights, top - HEAD_HEIGHT, bottom - HEAD_HEIGHT);
  const style = {
    height,
    '--digits': digits,
    minWidth: wraps ? undefined : `calc(${widest + 2 * digits}ch + 96px)`,
  } as CSSProperties;
  return (
    <div className={wraps ? 'relative code-wrap' : 'relative'} style={style} role="presentation">
      <div className="absolute inset-x-0" style={{ top: topOf(heights, from) }} role="presentation">
        {Array.from({ length: to - from }, (_, step) => (
          <DiffRow key={from + step} shown={shown} index={from + step} number={number + 1 + from + step} />
        ))}
      </div>
    </div>
  );
}

/** How rows lie on a screen. */
export function layoutOf(
  rows: DiffRows,
  { split, wrap }: Pick<DiffLook, 'split' | 'wrap'>,
  { width, cell }: Screen,
): { digits: number; heights: Heights } {
  const digits = digitsOf(rows.patch);
  if (!split && !wrap) return { digits, heights: heightsOf(rows, null) };
  // Space beside the digits is 16 px, the sign and the padding of a text 40.
  const numbers = digits * cell + 16;
  const text = split ? (width - 1) / 2 - numbers - 40 : width - 2 * numbers - 40;
  return { digits, heights: heightsOf(rows, Math.max(8, Math.floor(text / cell))) };
}

/** Digits of the highest line number. */
function digitsOf(patch: { length: number; oldLine: Uint32Array; newLine: Uint32Array }): number {
  let highest = 0;
  for (let at = patch.length - 1; at >= 0 && at >= patch.length - 5000; at--)
    highest = Math.max(highest, patch.oldLine[at]!, patch.newLine[at]!);
  return Math.max(2, String(highest).length);
}
