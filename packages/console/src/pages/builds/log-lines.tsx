/**
 * The lines of a log: only those on the screen exist. A list, whose items say where they are in it: `role="log"` would
 * read out each line that comes, and each that is scrolled to.
 */
import { useImperativeHandle, useLayoutEffect, useMemo, useRef } from 'react';
import type { CSSProperties, ReactNode, Ref } from 'react';
import { CodeLine } from '../../code/code-line.tsx';
import { MAX_HEIGHT, evenHeights, linesOf, rowsBetween, topOf, wrappedHeights } from '../../code/heights.ts';
import type { AnsiLine } from '../../code/index.ts';
import { MAX_LINE } from '../../code/limits.ts';
import { findIn } from '../../code/segments.ts';
import { useViewport } from '../../code/use-viewport.ts';

export interface LogHandle {
  goTo(line: number): void;
}

interface Props {
  label: string;
  lines: readonly AnsiLine[];
  /** Changes with the lines. */
  version: number;
  wrap: boolean;
  find: string;
  /** The line of the present hit; -1 for none. */
  current: number;
  /** Stays at the end while lines come. */
  isFollowed: boolean;
  onFollow: (isFollowed: boolean) => void;
  handle: Ref<LogHandle>;
}

const SPARE = 300;
/** So near to the end is at the end. */
const NEAR = 24;
/** More hits in one line are not marked. */
const MAX_MARKS = 400;

export function LogLines(props: Props): ReactNode {
  const { label, lines, version, wrap, find, current, isFollowed, onFollow } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const viewport = useViewport(scroller);
  const count = lines.length;
  const digits = String(count).length;
  const cells = wrap
    ? Math.max(8, Math.floor((viewport.width - digits * viewport.cell - 36) / viewport.cell))
    : null;
  const heights = useMemo(
    () => (cells === null ? evenHeights(count) : wrappedHeights(count, (row) => rowsOf(lines[row]!, cells))),
    // The lines are one array that grows.
    // oxlint-disable-next-line react/exhaustive-deps
    [lines, count, version, cells],
  );
  const full = topOf(heights, count);
  const height = Math.min(full, MAX_HEIGHT);
  const shift = full > height ? (viewport.top / Math.max(1, height - viewport.height)) * (full - height) : 0;
  const top = viewport.top + shift;
  const [from, to] = rowsBetween(heights, top - SPARE, top + viewport.height + SPARE);

  useImperativeHandle(props.handle, () => ({
    goTo: (line) => {
      const element = scroller.current;
      if (element === null) return;
      const view = element.clientHeight;
      const wanted = Math.max(0, topOf(heights, line) - view / 3);
      element.scrollTop = full > height ? (wanted / (full - view)) * (height - view) : wanted;
    },
  }));

  // What the page itself scrolled to is no wish of the reader's.
  const own = useRef(-1);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!isFollowed || element === null) return;
    element.scrollTop = element.scrollHeight;
    own.current = element.scrollTop;
  }, [isFollowed, height, version, viewport.height]);
  const onScroll = () => {
    const element = scroller.current!;
    const left = element.scrollHeight - element.clientHeight - element.scrollTop;
    const moved = element.scrollTop - own.current;
    // Where lines got fewer, the browser moves up to the end, and is at it.
    if (isFollowed && moved < -1 && left > 1) onFollow(false);
    if (!isFollowed && moved > 1 && left < NEAR) onFollow(true);
    own.current = element.scrollTop;
  };

  const style = { height, '--digits': digits } as CSSProperties;
  return (
    <div
      ref={scroller}
      className={`code min-h-40 flex-1 ${wrap ? 'code-wrap' : ''}`}
      role="list"
      aria-label={label}
      tabIndex={0}
      onScroll={onScroll}
    >
      <div className="relative min-w-full" style={style} role="presentation">
        <div
          className="absolute min-w-full"
          style={{ top: topOf(heights, from) - shift }}
          role="presentation"
        >
          {lines.slice(from, to).map(({ text, marks }, step) => {
            const line = from + step;
            return (
              <div
                key={line}
                role="listitem"
                aria-posinset={line + 1}
                aria-setsize={count}
                aria-current={line === current || undefined}
                className={line === current ? 'code-row code-selected' : 'code-row'}
              >
                <span className="code-numbers">
                  <span className="code-number">{line + 1}</span>
                </span>
                <span className="code-text">
                  <CodeLine text={text} marks={find === '' ? marks : [...marks, found(text, find)]} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const rowsOf = ({ text }: AnsiLine, cells: number): number => (text === '' ? 1 : linesOf(text, cells));

const found = (text: string, find: string) => ({
  className: 'code-found',
  ranges: findIn(text.slice(0, MAX_LINE), find).slice(0, MAX_MARKS),
});
