import './code.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { MouseEvent, ReactNode, Ref } from 'react';
import { DiffFileRows, layoutOf } from './diff-file.tsx';
import type { DiffLook } from './diff-file.tsx';
import {
  DiffCache,
  GAP,
  HEAD_HEIGHT,
  bodyHeight,
  bodyOf,
  findNext,
  foldedAtFirst,
  guessBody,
} from './diff-list.ts';
import type { DiffFile, Place } from './diff-list.ts';
import type { LineRange } from './diff-row.tsx';
import { rowOfLine } from './diff-rows.ts';
import { ROW, topOf } from './heights.ts';
import { useViewport } from './use-viewport.ts';

/** What a page can ask of a diff. */
export interface DiffHandle {
  /** Goes to a file by path, and to a line of it. */
  goTo(path: string, line?: LineRange | null): void;
  /** Goes to the next file, or the one before. */
  step(by: 1 | -1): void;
  /** Goes to the next line that has the text; false if no file that is there has it. */
  find(query: string, back?: boolean): boolean;
}

export interface Selection {
  path: string;
  lines: LineRange;
}

interface Props {
  files: readonly DiffFile[];
  /** Names both sources, as colours are kept by it. */
  pair: string;
  look: DiffLook;
  /** Marked in all lines. */
  find?: string;
  viewed?: ReadonlySet<string>;
  onViewed?: (file: DiffFile, viewed: boolean) => void;
  selected?: Selection | null;
  onSelect?: (selection: Selection) => void;
  /** Called with files that are on the screen and have no patch yet; often. */
  onNeed?: (files: DiffFile[]) => void;
  /** Why a patch could not be read, by path. */
  problems?: ReadonlyMap<string, string>;
  onRetry?: (file: DiffFile) => void;
  onCurrent?: (path: string) => void;
  handle?: Ref<DiffHandle>;
  className?: string;
}

const NONE: ReadonlySet<string> = new Set();
const SPARE = 300;
const SCROLLS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', ' ']);

/** A diff of one file or of 10,000: one scroller, in which files and rows exist while they are on the screen. */
export const DiffView = memo(function DiffView(props: Props): ReactNode {
  const { files, pair, look, viewed = NONE, selected = null, onNeed, onCurrent, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const viewport = useViewport(scroller);
  const [cache] = useState(() => new DiffCache());
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const atFirst = useFoldedAtFirst(files, pair);
  const isFolded = (path: string) => folds.get(path) ?? (viewed.has(path) || atFirst.has(path));
  const starts = useMemo(() => rowNumbers(files), [files]);

  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled by React's compiler
  const virtualizer = useVirtualizer({
    count: files.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) =>
      HEAD_HEIGHT + GAP + (isFolded(files[index]!.path) ? 0 : guessBody(files[index]!)),
    overscan: 2,
    useFlushSync: false,
  });
  const items = virtualizer.getVirtualItems();
  // A file that was gone to is the current one even where the list ends before it can be at the top.
  const [aimed, setAimed] = useState<number | null>(null);
  const atTop = items.findLast((item) => item.start <= viewport.top + HEAD_HEIGHT + ROW)?.index ?? 0;
  const currentIndex = aimed ?? atTop;
  const current = files[currentIndex]?.path;

  // A new one asks the files on the screen for their heights again.
  const [measured, setMeasured] = useState(0);
  const onHeight = useCallback(
    (index: number, height: number) => virtualizer.resizeItem(index, height),
    // oxlint-disable-next-line react/exhaustive-deps
    [virtualizer, measured],
  );
  const onFold = useCallback(
    (file: DiffFile, index: number, folded: boolean) => {
      setFolds((last) => new Map(last).set(file.path, folded));
      const start = virtualizer.getOffsetForIndex(index, 'start')?.[0] ?? 0;
      virtualizer.resizeItem(index, HEAD_HEIGHT + GAP + (folded ? 0 : guessBody(file)));
      if (folded && scroller.current!.scrollTop > start) scroller.current!.scrollTop = start;
    },
    [virtualizer],
  );
  const { onViewed } = props;
  const setViewed = useCallback(
    (file: DiffFile, index: number, isViewed: boolean) => {
      onFold(file, index, isViewed);
      onViewed?.(file, isViewed);
    },
    [onFold, onViewed],
  );
  // A scroll changes none of it, so that only files that it brings or cuts are rendered.
  const { width, cell } = viewport;
  const screen = useMemo(() => ({ width, cell }), [width, cell]);

  // Another look has other heights: the file at the top stays there.
  const lookKey = `${look.split} ${look.wrap} ${look.ignoreSpace} ${viewport.width}`;
  const lastLook = useRef(lookKey);
  useLayoutEffect(() => {
    if (lastLook.current === lookKey) return;
    lastLook.current = lookKey;
    virtualizer.measure();
    setMeasured((last) => last + 1);
    virtualizer.scrollToIndex(currentIndex, { align: 'start' });
  }, [lookKey, virtualizer, currentIndex]);
  const lastPair = useRef(pair);
  useLayoutEffect(() => {
    if (lastPair.current === pair) return;
    lastPair.current = pair;
    setFolds(new Map());
    setAimed(null);
    virtualizer.measure();
    setMeasured((last) => last + 1);
    virtualizer.scrollToOffset(0);
  }, [pair, virtualizer]);

  useEffect(() => {
    if (current !== undefined) onCurrent?.(current);
  }, [current, onCurrent]);

  const missing = items.flatMap(({ index }) => {
    const file = files[index];
    return file !== undefined &&
      bodyOf(file) === 'missing' &&
      !isFolded(file.path) &&
      !props.problems?.has(file.path)
      ? [file]
      : [];
  });
  useEffect(() => {
    if (missing.length > 0) onNeed?.(missing);
  });

  const goToRow = (index: number, rowOf: (rows: ReturnType<DiffCache['rows']>) => number) => {
    const file = files[index]!;
    setFolds((last) => new Map(last).set(file.path, false));
    const rows = cache.rows(file, look);
    const { heights } = layoutOf(rows, look, viewport);
    virtualizer.resizeItem(index, HEAD_HEIGHT + GAP + bodyHeight(heights));
    const start = virtualizer.getOffsetForIndex(index, 'start')?.[0] ?? 0;
    const row = rowOf(rows);
    const inFile = row < 0 ? 0 : HEAD_HEIGHT + topOf(heights, row) - viewport.height / 3;
    virtualizer.scrollToOffset(start + Math.max(0, inFile));
  };
  // A place waits for the first layout, and for its patch.
  const awaited = useRef<{ path: string; line: LineRange | null; isShown: boolean } | null>(null);
  const arrive = () => {
    const wanted = awaited.current;
    if (wanted === null || viewport.height === 0) return;
    const index = files.findIndex(({ path, oldPath }) => path === wanted.path || oldPath === wanted.path);
    const body = index < 0 ? 'unchanged' : bodyOf(files[index]!);
    if (wanted.line === null || body !== 'missing') awaited.current = null;
    if (index < 0) return;
    if (wanted.line !== null && body === 'rows')
      goToRow(index, (rows) => rowOfLine(rows, wanted.line!.from, wanted.line!.side));
    else if (!wanted.isShown) virtualizer.scrollToIndex(index, { align: 'start' });
    wanted.isShown = true;
    setAimed(index);
  };
  useLayoutEffect(arrive);
  const goTo = (path: string, line: LineRange | null = null) => {
    awaited.current = { path, line, isShown: false };
    arrive();
  };

  const place = useRef<Place | null>(null);
  useImperativeHandle(props.handle, () => ({
    goTo,
    step: (by) => {
      const next = Math.max(0, Math.min(files.length - 1, currentIndex + by));
      setAimed(next);
      virtualizer.scrollToIndex(next, { align: 'start' });
      requestAnimationFrame(() =>
        scroller.current?.querySelector<HTMLElement>(`[data-head="${next}"]`)?.focus({ preventScroll: true }),
      );
    },
    find: (query, back = false) => {
      const found = findNext(files, query, place.current ?? { file: currentIndex, row: -1 }, back);
      place.current = found;
      if (found === null) return false;
      setAimed(found.file);
      goToRow(found.file, (rows) => indexOfPatchRow(rows, found.row));
      return true;
    },
  }));

  // From here on, the reader scrolls.
  const free = () => setAimed(null);
  const onClick = (event: MouseEvent) => {
    const number = (event.target as HTMLElement).closest<HTMLElement>('[data-line]');
    const path = number?.closest<HTMLElement>('[data-file]')?.dataset['file'];
    if (!number || path === undefined || onSelect === undefined) return;
    const line = Number(number.dataset['line']);
    const side = number.dataset['side'] === 'old' ? 'old' : 'new';
    const last = selected?.path === path && selected.lines.side === side ? selected.lines : null;
    const from = event.shiftKey && last !== null ? Math.min(last.from, line) : line;
    const to = event.shiftKey && last !== null ? Math.max(last.from, line) : line;
    onSelect({ path, lines: { from, to, side } });
  };

  return (
    <div
      ref={scroller}
      className={`code ${props.className ?? ''}`}
      role="table"
      aria-label="Changed lines"
      aria-rowcount={starts[files.length]}
      tabIndex={0}
      onClick={onClick}
      onWheel={free}
      onTouchMove={free}
      onPointerDown={free}
      onKeyDown={(event) => SCROLLS.has(event.key) && free()}
    >
      <div style={{ height: virtualizer.getTotalSize() }} className="relative" role="presentation">
        {items.map(({ index, start, size }) => {
          const file = files[index]!;
          return (
            <div
              key={index}
              role="rowgroup"
              aria-label={file.path}
              data-file={file.path}
              className="absolute left-0 min-w-full"
              style={{ top: start, height: size - GAP }}
            >
              <DiffFileRows
                file={file}
                index={index}
                pair={pair}
                cache={cache}
                look={look}
                find={props.find ?? ''}
                folded={isFolded(file.path)}
                viewed={viewed.has(file.path)}
                current={index === currentIndex}
                selected={selected?.path === file.path ? selected.lines : null}
                problem={props.problems?.get(file.path)}
                number={starts[index]! + 1}
                top={clamp(viewport.top - SPARE - start, size)}
                bottom={clamp(viewport.top + viewport.height + SPARE - start, size)}
                screen={screen}
                onFold={onFold}
                onViewed={onViewed && setViewed}
                onHeight={onHeight}
                onRetry={props.onRetry}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
});

function useFoldedAtFirst(files: readonly DiffFile[], pair: string): Set<string> {
  const [state, setState] = useState({ pair: '', count: -1, folded: new Set<string>() });
  // Patches that come later fold nothing: the reader may be there already.
  if (state.pair !== pair || state.count !== files.length) {
    const next = { pair, count: files.length, folded: foldedAtFirst(files) };
    setState(next);
    return next.folded;
  }
  return state.folded;
}

/** Number of rows before each file, and of all. */
function rowNumbers(files: readonly DiffFile[]): Float64Array {
  const starts = new Float64Array(files.length + 1);
  for (const [index, file] of files.entries())
    starts[index + 1] = starts[index]! + 1 + Math.max(1, Math.floor(guessBody(file) / ROW));
  return starts;
}

function indexOfPatchRow(rows: ReturnType<DiffCache['rows']>, row: number): number {
  for (let index = 0; index < rows.length; index++)
    if (rows.left[index] === row || rows.right[index] === row) return index;
  return -1;
}

function clamp(offset: number, size: number): number {
  return Math.max(0, Math.min(offset, size));
}
