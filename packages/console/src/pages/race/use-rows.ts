/** Which of the rows are in view, in a page that scrolls as a whole. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';
import type { Row } from './layout.ts';
import { ROW } from './shape.ts';
import type { Race } from './use-race.ts';

const OVERSCAN = 8;

export interface RowsInView {
  /** For what holds the rows. */
  box: RefObject<HTMLDivElement | null>;
  /** Where it begins in the page. */
  margin: number;
  from: number;
  to: number;
}

/** Reads on for the rows in view. */
export function useRows(rows: readonly Row[], readFor: Race['readFor']): RowsInView {
  const box = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (box.current) setMargin(Math.round(box.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled by React's compiler
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW,
    getItemKey: useCallback((i: number) => rows[i]?.key ?? i, [rows]),
    overscan: OVERSCAN,
    scrollMargin: margin,
  });
  const items = virtual.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = Math.min(items.at(-1)?.index ?? 0, rows.length - 1);
  useEffect(() => {
    if (rows.length) readFor(rows.slice(from, to + 1), to >= rows.length - 1);
  }, [rows, from, to, readFor]);
  return { box, margin, from, to };
}
