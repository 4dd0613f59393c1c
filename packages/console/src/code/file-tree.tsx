import './code.css';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { count } from '../ui/values.tsx';
import { Plain } from './plain.tsx';
import { treeRows } from './tree.ts';
import type { TreeRow } from './tree.ts';
import { useViewport } from './use-viewport.ts';

interface Props {
  label: string;
  paths: readonly string[];
  /** The file that is shown. */
  current: string | null;
  onOpen: (path: string) => void;
  /** Beside a file's name. */
  renderNote?: (index: number) => ReactNode;
  isDone?: (path: string) => boolean;
  className?: string;
}

const ROW = 28;
const SPARE = 10;

/** Files by folder. Rows exist while they are on the screen; one tab stop, moved through with the arrow keys. */
export function FileTree({ label, paths, current, onOpen, renderNote, isDone, className }: Props): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const viewport = useViewport(scroller);
  const id = useId();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const rows = useMemo(() => treeRows(paths, closed), [paths, closed]);
  const activeIndex = Math.max(
    0,
    rows.findIndex(({ path }) => path === (active ?? current)),
  );
  const from = Math.max(0, Math.floor(viewport.top / ROW) - SPARE);
  const to = Math.min(rows.length, Math.ceil((viewport.top + viewport.height) / ROW) + SPARE);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, step) => from + step);
  // The row with the focus is there, wherever it is.
  if (rows.length > 0 && (activeIndex < from || activeIndex >= to)) shown.push(activeIndex);

  const toggle = (row: TreeRow, close: boolean) =>
    setClosed((last) => {
      const next = new Set(last);
      if (close) next.add(row.path);
      else next.delete(row.path);
      return next;
    });
  const open = (row: TreeRow) => {
    setActive(row.path);
    if (row.isFolder) toggle(row, !closed.has(row.path));
    else onOpen(row.path);
  };
  const moveTo = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    const element = scroller.current;
    if (row === undefined || element === null) return;
    setActive(row.path);
    const top = rows.indexOf(row) * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = top + ROW - element.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[activeIndex];
    if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const keys: Record<string, () => void> = {
      ArrowDown: () => moveTo(activeIndex + 1),
      ArrowUp: () => moveTo(activeIndex - 1),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      Enter: () => open(row),
      ' ': () => open(row),
      ArrowRight: () => (row.isFolder && closed.has(row.path) ? toggle(row, false) : moveTo(activeIndex + 1)),
      ArrowLeft: () => {
        if (row.isFolder && !closed.has(row.path)) toggle(row, true);
        else moveTo(rows.findLastIndex((other, index) => index < activeIndex && other.depth < row.depth));
      },
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? `${id}-${activeIndex}` : undefined}
      onKeyDown={onKeyDown}
      className={`file-tree overflow-auto ${className ?? ''}`}
    >
      <div className="relative" style={{ height: rows.length * ROW }} role="presentation">
        {shown.map((index) => {
          const row = rows[index]!;
          return (
            <div
              key={row.path + (row.isFolder ? '/' : '')}
              id={`${id}-${index}`}
              role="treeitem"
              aria-level={row.depth + 1}
              aria-expanded={row.isFolder ? !closed.has(row.path) : undefined}
              aria-selected={row.path === current}
              title={row.path}
              data-active={index === activeIndex || undefined}
              className="file-tree-row"
              style={{ top: index * ROW, paddingLeft: 8 + Math.min(row.depth, 12) * 12 }}
              onClick={() => open(row)}
            >
              <TreeName row={row} isClosed={closed.has(row.path)} isDone={isDone?.(row.path) === true} />
              <span className="ml-auto flex-none pl-2">
                {row.isFolder ? (
                  <span className="text-12 text-ink-3">{count(row.count)}</span>
                ) : (
                  renderNote?.(row.index)
                )}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function TreeName({
  row,
  isClosed,
  isDone,
}: {
  row: TreeRow;
  isClosed: boolean;
  isDone: boolean;
}): ReactNode {
  const Mark = isClosed ? ChevronRight : ChevronDown;
  return (
    <>
      <span className="flex w-4 flex-none justify-center text-ink-3" aria-hidden>
        {row.isFolder ? <Mark size={14} /> : isDone ? '✓' : null}
      </span>
      <span className={`truncate ${row.isFolder ? 'text-ink-2' : isDone ? 'text-ink-3' : ''}`}>
        <Plain text={row.name} />
      </span>
    </>
  );
}
