import './code.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { KeyboardEvent, MouseEvent, ReactNode, Ref } from 'react';
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
import { HEAD, lineAt, nextSpot, spotNow } from './diff-spot.ts';
import type { Spot } from './diff-spot.ts';
import { ROW, rowAt, topOf } from './heights.ts';
import { isSelect, linesBetween, showRow, stepOf, useLineKeys } from './line-keys.ts';
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

/** A line of a side of a file. */
interface LineOf {
  path: string;
  line: number;
  side: 'old' | 'new';
}

const isSame = (selected: Selection | null, { path, line, side }: LineOf) =>
  selected?.path === path &&
  selected.lines.side === side &&
  selected.lines.from === line &&
  selected.lines.to === line;

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
  // Where the keys are.
  const [spot, setSpot] = useState<Spot | null>(null);
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
    setSpot(null);
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
    setSpot(null);
    virtualizer.measure();
    setMeasured((last) => last + 1);
    virtualizer.scrollToOffset(0);
  }, [pair, virtualizer]);

  // Before the next key: it is about the file that is shown as the current one.
  useLayoutEffect(() => {
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
  const id = useId();
  const anchor = useRef<LineOf | null>(null);
  const rowsOf = (index: number) => {
    const file = files[index]!;
    return !isFolded(file.path) && bodyOf(file) === 'rows' ? cache.rows(file, look) : null;
  };
  const lineOfSpot = ({ file, row }: Spot, side: 'old' | 'new'): LineOf | null => {
    const rows = row === HEAD ? null : rowsOf(file);
    const at = rows && lineAt(rows, row, side);
    return at && { path: files[file]!.path, ...at };
  };
  /** Pixels from the top of the list. */
  const placeOf = ({ file, row }: Spot) => {
    const start = virtualizer.measurementsCache[file]?.start ?? 0;
    const rows = row === HEAD ? null : rowsOf(file);
    if (rows === null) return { top: start, bottom: start + HEAD_HEIGHT };
    const { heights } = layoutOf(rows, look, viewport);
    const body = start + HEAD_HEIGHT;
    return { top: body + topOf(heights, row), bottom: body + topOf(heights, row + 1), head: HEAD_HEIGHT };
  };
  const topSpot = (): Spot => {
    const rows = rowsOf(atTop);
    const covered = viewport.top - (virtualizer.measurementsCache[atTop]?.start ?? 0);
    if (rows === null || covered <= 0) return { file: atTop, row: HEAD };
    const { heights } = layoutOf(rows, look, viewport);
    return spotNow({ file: atTop, row: Math.min(rows.length - 1, rowAt(heights, covered)) }, rowsOf);
  };
  const isNear = (at: Spot, scrolled: number) => {
    const { top, bottom } = placeOf(at);
    return bottom > scrolled - SPARE && top < scrolled + viewport.height + SPARE;
  };
  // Files that are folded, and other looks, have other rows.
  const spotHere = spot !== null && spot.file < files.length ? spotNow(spot, rowsOf) : null;
  const isShown =
    spotHere !== null && items.some(({ index }) => index === spotHere.file) && isNear(spotHere, viewport.top);

  const select = (at: LineOf, begin: LineOf | null) => {
    // A range is within one side of one file; rows of the other side are passed over.
    const isRange = begin?.path === at.path;
    if (isRange && begin.side !== at.side) return;
    anchor.current = isRange ? begin : at;
    const lines = { ...linesBetween(anchor.current.line, at.line), side: at.side };
    onSelect?.({ path: at.path, lines });
  };
  const selectedFrom = (): LineOf | null =>
    selected && { path: selected.path, line: selected.lines.from, side: selected.lines.side };
  const selectedSpot = (): Spot | null => {
    const file = selected ? files.findIndex(({ path }) => path === selected.path) : -1;
    const rows = file < 0 ? null : rowsOf(file);
    const row = rows ? rowOfLine(rows, selected!.lines.to, selected!.lines.side) : -1;
    return row < 0 ? null : { file, row };
  };
  const onClick = (event: MouseEvent) => {
    const number = (event.target as HTMLElement).closest<HTMLElement>('[data-line]');
    const path = number?.closest<HTMLElement>('[data-file]')?.dataset['file'];
    if (!number || path === undefined) return;
    const side = number.dataset['side'] === 'old' ? 'old' : 'new';
    const at: LineOf = { path, line: Number(number.dataset['line']), side };
    const file = files.findIndex((one) => one.path === path);
    setSpot({ file, row: rowOfLine(rowsOf(file)!, at.line, side) });
    const begin = event.shiftKey ? (anchor.current ?? selectedFrom()) : null;
    select(at, begin?.side === side ? begin : null);
  };
  useLineKeys();
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (SCROLLS.has(event.key)) free();
    const step = stepOf(event);
    if (files.length === 0 || (step === 0 && !isSelect(event))) return;
    event.preventDefault();
    // The keys of a held one come before the scroll of the last one has been heard of.
    const { scrollTop } = scroller.current!;
    const near = (at: Spot | null) => (at !== null && isNear(at, scrollTop) ? at : null);
    const seen = near(spotHere);
    // The first key goes to the line of a link. Who has scrolled away goes on with what is seen.
    const linked = spot === null ? near(selectedSpot()) : null;
    const begin = seen ?? linked ?? topSpot();
    if (step === 0 && seen?.row === HEAD) {
      const file = files[seen.file]!;
      onFold(file, seen.file, !isFolded(file.path));
      return;
    }
    const next = seen || event.shiftKey ? nextSpot(begin, step, [files.length, rowsOf]) : begin;
    setSpot(next);
    showRow(scroller.current!, placeOf(next));
    if (step !== 0 && !event.shiftKey) {
      anchor.current = null;
      return;
    }
    const from = event.shiftKey
      ? (anchor.current ?? (linked && selectedFrom()) ?? lineOfSpot(begin, 'new'))
      : null;
    const at = lineOfSpot(next, from?.side ?? 'new');
    if (at === null) return;
    // The line that is selected already: now on the other side, if it has one.
    const isAgain = step === 0 && from === null && isSame(selected, at);
    select((isAgain && lineOfSpot(next, 'old')) || at, from);
  };

  return (
    <div
      ref={scroller}
      className={`code ${props.className ?? ''}`}
      role="grid"
      aria-multiselectable
      aria-label="Changed lines"
      aria-rowcount={starts[files.length]}
      aria-activedescendant={isShown ? `${id}${spotHere.file}-${spotHere.row}` : undefined}
      tabIndex={0}
      onClick={onClick}
      onWheel={free}
      onTouchMove={free}
      onPointerDown={free}
      onKeyDown={onKeyDown}
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
                cursor={spotHere?.file === index ? spotHere.row : null}
                id={`${id}${index}-`}
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
