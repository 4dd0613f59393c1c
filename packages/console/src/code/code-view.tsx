import './code.css';
import { useId, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { CSSProperties, KeyboardEvent, MouseEvent, ReactNode, Ref } from 'react';
import { CodeLine } from './code-line.tsx';
import {
  MAX_HEIGHT,
  cellsOf,
  evenHeights,
  linesOf,
  rowAt,
  rowsBetween,
  topOf,
  wrappedHeights,
} from './heights.ts';
import { useHighlights } from './highlight.ts';
import { languageOf } from './language.ts';
import { isSelect, linesBetween, showRow, stepOf, useLineKeys } from './line-keys.ts';
import { lineOf, lineStarts } from './lines.ts';
import { findIn } from './segments.ts';
import { useViewport } from './use-viewport.ts';

/** Lines from 1, both included. */
export interface Lines {
  from: number;
  to: number;
}

/** What a page can ask of a shown file. */
export interface CodeHandle {
  /** Goes to the next line that has the text; false if there is none. */
  find(query: string, back?: boolean): boolean;
}

interface Props {
  path: string;
  text: string;
  /** Of the content: colours are kept by it. */
  sha256: string;
  wrap?: boolean;
  find?: string;
  selected?: Lines | null;
  onSelect?: (lines: Lines) => void;
  handle?: Ref<CodeHandle>;
  className?: string;
}

const SPARE = 300;

/** A file to read: lines exist while they are on the screen, plain until they are coloured. */
export function CodeView(props: Props): ReactNode {
  const { path, text, sha256, wrap = false, find = '', selected = null, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const viewport = useViewport(scroller);
  const starts = useMemo(() => lineStarts(text), [text]);
  // A line feed at the end ends the last line and starts none.
  const count = text.endsWith('\n') || text === '' ? starts.length - 1 : starts.length;
  const digits = String(count).length;
  const cells = wrap ? Math.floor((viewport.width - digits * viewport.cell - 36) / viewport.cell) : null;
  const heights = useMemo(
    () =>
      cells === null
        ? evenHeights(count)
        : wrappedHeights(count, (line) => linesOf(lineOf(text, starts, line), Math.max(8, cells))),
    [text, starts, count, cells],
  );
  const widest = useMemo(() => (wrap ? 0 : widestLine(text, starts)), [text, starts, wrap]);
  const highlights = useHighlights(sha256, text, languageOf(path));

  // Where all rows are higher than a browser can scroll, its bar moves over them faster.
  const full = topOf(heights, count);
  const height = Math.min(full, MAX_HEIGHT);
  const shiftAt = (scrolled: number) =>
    full > height ? (scrolled / (height - viewport.height)) * (full - height) : 0;
  const shift = shiftAt(viewport.top);
  const rowsAt = (top: number) => rowsBetween(heights, top - SPARE, top + viewport.height + SPARE);
  const [from, to] = rowsAt(viewport.top + shift);

  const goTo = (line: number) => {
    const element = scroller.current;
    if (element === null) return;
    const wanted = Math.max(0, topOf(heights, line) - element.clientHeight / 3);
    const view = element.clientHeight;
    element.scrollTop = full > height ? (wanted / (full - view)) * (height - view) : wanted;
  };
  const first = selected?.from;
  // Who selects a line here sees it already.
  const selectedHere = useRef<string | null>(null);
  const measured = viewport.height > 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (first === undefined || element === null || !measured) return;
    const isShown = selectedHere.current === `${sha256} ${first}`;
    selectedHere.current = null;
    if (isShown) return;
    const at = topOf(heights, Math.min(first, count) - 1) - shift;
    if (at < element.scrollTop || at > element.scrollTop + element.clientHeight - 40) goTo(first - 1);
    // Only another file or selection moves the page.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [sha256, first, measured]);

  const found = useRef(-1);
  useImperativeHandle(props.handle, () => ({
    find: (query, back = false) => {
      if (query === '') return false;
      const wanted = query.toLowerCase();
      for (let step = 1; step <= count; step++) {
        const line = (((found.current + (back ? -step : step)) % count) + count) % count;
        if (!lineOf(text, starts, line).toLowerCase().includes(wanted)) continue;
        found.current = line;
        goTo(line);
        return true;
      }
      return false;
    },
  }));

  // The current line, from 1, and the other end of the range that it makes.
  const id = useId();
  const [current, setCurrent] = useState<number | null>(null);
  const anchor = useRef<number | null>(null);
  const isSeen = current !== null && current > from && current <= to;
  const select = (line: number, isMore: boolean) => {
    anchor.current = isMore ? (anchor.current ?? current ?? selected?.from ?? line) : line;
    setCurrent(line);
    const lines = linesBetween(anchor.current, line);
    selectedHere.current = `${sha256} ${lines.from}`;
    onSelect?.(lines);
  };
  const onClick = (event: MouseEvent) => {
    const number = (event.target as HTMLElement).closest<HTMLElement>('[data-line]');
    if (number) select(Number(number.dataset['line']), event.shiftKey);
  };
  const showLine = (line: number, top: number) => {
    const [above, below] = [topOf(heights, line - 1), topOf(heights, line)];
    if (full === height) showRow(scroller.current!, { top: above, bottom: below });
    else if (above < top || below > top + viewport.height) goTo(line - 1);
  };
  useLineKeys(onSelect !== undefined);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = stepOf(event);
    if (onSelect === undefined || (step === 0 && !isSelect(event))) return;
    event.preventDefault();
    // The keys of a held one come before the scroll of the last one has been heard of.
    const { scrollTop } = scroller.current!;
    const top = scrollTop + shiftAt(scrollTop);
    const [above, below] = rowsAt(top);
    const isNear = current !== null && current > above && current <= below;
    // Who has scrolled away goes on with what is seen.
    const begin = isNear ? current : current === null && selected ? selected.to : rowAt(heights, top) + 1;
    const line = isNear || event.shiftKey ? Math.max(1, Math.min(count, begin + step)) : begin;
    if (step === 0 || event.shiftKey) select(line, event.shiftKey);
    else {
      anchor.current = null;
      setCurrent(line);
    }
    showLine(line, top);
  };

  const style = {
    height,
    '--digits': digits,
    minWidth: wrap ? undefined : `calc(${widest + digits}ch + 48px)`,
  } as CSSProperties;
  return (
    <div
      ref={scroller}
      className={`code ${wrap ? 'code-wrap' : ''} ${props.className ?? ''}`}
      role={onSelect ? 'grid' : 'table'}
      aria-multiselectable={onSelect && true}
      aria-label={path}
      aria-rowcount={count}
      aria-activedescendant={isSeen ? `${id}${current}` : undefined}
      tabIndex={0}
      onClick={onSelect && onClick}
      onKeyDown={onKeyDown}
    >
      <div className="relative min-w-full" style={style} role="presentation">
        <div className="absolute inset-x-0" style={{ top: topOf(heights, from) - shift }} role="rowgroup">
          {Array.from({ length: to - from }, (_, step) => {
            const line = from + step;
            const isSelected = selected !== null && line + 1 >= selected.from && line + 1 <= selected.to;
            const content = lineOf(text, starts, line).replace(/\r$/, '');
            return (
              <div
                key={line}
                role="row"
                id={`${id}${line + 1}`}
                aria-rowindex={line + 1}
                aria-selected={onSelect && isSelected}
                className={`code-row ${isSelected ? 'code-selected' : ''} ${line + 1 === current ? 'code-current' : ''}`}
              >
                <span className="code-numbers" role="rowheader">
                  <span className="code-number" data-line={line + 1}>
                    {line + 1}
                  </span>
                </span>
                <span className="code-text" role={onSelect ? 'gridcell' : 'cell'}>
                  <CodeLine
                    text={content}
                    highlights={highlights}
                    line={line}
                    marks={find === '' ? [] : [{ className: 'code-found', ranges: findIn(content, find) }]}
                  />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function widestLine(text: string, starts: Uint32Array): number {
  let widest = 0;
  for (let line = 0; line < starts.length; line++) {
    // A line has at most four cells for each character.
    const length = (starts[line + 1] ?? text.length) - starts[line]!;
    if (length * 4 > widest) widest = Math.max(widest, cellsOf(lineOf(text, starts, line)));
  }
  return widest;
}
