import { memo } from 'react';
import type { ReactNode } from 'react';
import { CodeLine } from './code-line.tsx';
import { kindOf } from './diff-rows.ts';
import type { DiffRows } from './diff-rows.ts';
import type { Side } from './diff-list.ts';
import { ADDED, HUNK, REMOVED, rowText } from './patch.ts';
import { findIn } from './segments.ts';
import type { Marks } from './segments.ts';
import type { Highlights } from './tokens.ts';
import { diffWords } from './words.ts';

/** What all rows of a file share. */
export interface RowsShown {
  rows: DiffRows;
  split: boolean;
  words: boolean;
  find: string;
  /** Selected lines of the new file, or of the old one. */
  selected: LineRange | null;
  /** The row that the keys are at. */
  cursor: number | null;
  /** Of a row's element, with its index. */
  id: string;
  sides: Record<'old' | 'new', { side: Side | null; highlights: Highlights | null | undefined }>;
}

export interface LineRange {
  from: number;
  to: number;
  side: 'old' | 'new';
}

interface Props {
  shown: RowsShown;
  index: number;
  /** Number of the row in the whole table, from 1. */
  number: number;
}

const NAMES: Record<number, string> = { [ADDED]: 'added', [REMOVED]: 'removed' };
const SIGNS: Record<number, string> = { [ADDED]: '+', [REMOVED]: '−' };

/** A row of a diff. The numbers carry `data-line` for the table's click handler. */
export const DiffRow = memo(function DiffRow({ shown, index, number }: Props): ReactNode {
  const { rows } = shown;
  const [left, right] = [rows.left[index]!, rows.right[index]!];
  const kind = kindOf(rows, index);
  if (kind === HUNK) return <HunkRow shown={shown} at={left} number={number} />;
  const selected = isSelected(shown, left, 'old') || isSelected(shown, right, 'new');
  const line = { role: 'row', 'aria-rowindex': number, 'aria-selected': selected, id: `${shown.id}${index}` };
  const current = shown.cursor === index ? 'code-current' : '';
  if (!shown.split) {
    const at = right < 0 ? left : right;
    return (
      <div {...line} className={`code-row ${classOf(kind)} ${selected ? 'code-selected' : ''} ${current}`}>
        <span className="code-numbers" role="rowheader">
          <LineNumber shown={shown} at={left} side="old" />
          <LineNumber shown={shown} at={right} side="new" />
        </span>
        <Text shown={shown} at={at} kind={kind} />
      </div>
    );
  }
  const changed = kind === REMOVED || kind === ADDED;
  return (
    <div {...line} className={`code-row ${current}`}>
      <Half shown={shown} at={left} side="old" kind={changed ? REMOVED : kind} />
      <Half shown={shown} at={right} side="new" kind={changed ? ADDED : kind} />
    </div>
  );
});

function HunkRow({ shown, at, number }: { shown: RowsShown; at: number; number: number }): ReactNode {
  return (
    <div className="code-row diff-hunk" role="row" aria-rowindex={number}>
      <span className="code-numbers" role="rowheader" aria-label="Hunk">
        <span className="code-number" />
        {!shown.split && <span className="code-number" />}
      </span>
      <span className="code-sign" role="gridcell" />
      <span className="code-text" role="gridcell">
        <CodeLine text={rowText(shown.rows.patch, at)} />
      </span>
    </div>
  );
}

interface SideProps {
  shown: RowsShown;
  /** Row of the patch, -1: none. */
  at: number;
  side: 'old' | 'new';
}

function Half({ shown, at, side, kind }: SideProps & { kind: number }): ReactNode {
  if (at < 0) return <span className="diff-side diff-none" role="gridcell" />;
  const selected = isSelected(shown, at, side) ? 'code-selected' : '';
  return (
    <span className={`diff-side ${classOf(kind)} ${selected}`} role="presentation">
      <span className="code-numbers" role="rowheader">
        <LineNumber shown={shown} at={at} side={side} />
      </span>
      <Text shown={shown} at={at} kind={kind} />
    </span>
  );
}

function LineNumber({ shown, at, side }: SideProps): ReactNode {
  const line = numberOf(shown, at, side);
  if (line === 0) return <span className="code-number" />;
  return (
    <span className="code-number" data-line={line} data-side={side}>
      {line}
    </span>
  );
}

function Text({ shown, at, kind }: { shown: RowsShown; at: number; kind: number }): ReactNode {
  const { patch } = shown.rows;
  const text = rowText(patch, at);
  const { side, highlights } = shown.sides[patch.kind[at] === REMOVED ? 'old' : 'new'];
  return (
    <>
      <span className="code-sign" role="gridcell" aria-label={NAMES[kind] ?? 'unchanged'}>
        {SIGNS[kind]}
      </span>
      <span className="code-text" role="gridcell">
        {/* The carriage return of a line that did not change says nothing. */}
        <CodeLine
          text={kind in NAMES ? text : text.replace(/\r$/, '')}
          highlights={highlights}
          line={side?.lines[at] ?? -1}
          marks={marksOf(shown, at, kind)}
        />
        {patch.noEnd[at] === 1 && <span className="code-note">No newline at end of file</span>}
      </span>
    </>
  );
}

function marksOf(shown: RowsShown, at: number, kind: number): Marks[] {
  const { patch, mate } = shown.rows;
  const marks: Marks[] = [];
  if (shown.words && kind in NAMES && mate[at]! >= 0) {
    const [before, after] = kind === REMOVED ? [at, mate[at]!] : [mate[at]!, at];
    const words = diffWords(rowText(patch, before), rowText(patch, after));
    if (words !== null)
      marks.push({ className: 'diff-word', ranges: kind === REMOVED ? words.removed : words.added });
  }
  if (shown.find !== '')
    marks.push({ className: 'code-found', ranges: findIn(rowText(patch, at), shown.find) });
  return marks;
}

function isSelected(shown: RowsShown, at: number, side: 'old' | 'new'): boolean {
  const { selected } = shown;
  if (selected === null || selected.side !== side) return false;
  const line = numberOf(shown, at, side);
  return line >= selected.from && line <= selected.to;
}

function numberOf(shown: RowsShown, at: number, side: 'old' | 'new'): number {
  if (at < 0) return 0;
  return (side === 'old' ? shown.rows.patch.oldLine : shown.rows.patch.newLine)[at]!;
}

function classOf(kind: number): string {
  return kind === ADDED ? 'diff-added' : kind === REMOVED ? 'diff-removed' : '';
}
