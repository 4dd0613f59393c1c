/** The ledger: a row for each open thread and each revision, with the race in its margin. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Graph, Hits } from './graph.tsx';
import { layOut } from './layout.ts';
import type { Layout } from './layout.ts';
import { LedgerRow } from './ledger-row.tsx';
import { ROW, widthOf } from './shape.ts';
import type { Race } from './use-race.ts';
import { useRoom } from './use-room.ts';
import { summaryOf } from './words.ts';

const OVERSCAN = 8;
/** So far from the top, new rows do not push what is read. */
const READING_PX = ROW;

export function Ledger({
  appId,
  race,
  isFiltered,
  selected,
}: {
  appId: string;
  race: Race;
  isFiltered: boolean;
  selected: string | null;
}) {
  const { heads, strands, readFor } = race;
  const capacity = useRoom();
  const kept = useRef<Layout['kept']>(new Map());
  const layout = useMemo(
    () => layOut(heads, strands, { capacity, isFiltered, kept: kept.current }),
    [heads, strands, capacity, isFiltered],
  );
  useEffect(() => {
    kept.current = layout.kept;
  }, [layout]);
  const { rows, lanes, placed } = layout;
  const width = widthOf(
    lanes,
    placed.some(({ isFolded }) => isFolded),
  );

  const box = useRef<HTMLOListElement>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const top = box.current ? box.current.getBoundingClientRect().top + window.scrollY : 0;
    setMargin((old) => (Math.abs(old - top) < 1 ? old : top));
  });
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW,
    getItemKey: useCallback((i: number) => rows[i]!.key, [rows]),
    overscan: OVERSCAN,
    scrollMargin: margin,
  });
  const items = virtual.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  const isReading = useSteady(rows, margin);

  useEffect(() => {
    if (rows.length) readFor(rows.slice(from, to + 1), to >= rows.length - 1);
  }, [rows, from, to, readFor]);

  const [lit, setLit] = useState<string | null>(null);
  const light = useCallback((threadId: string | null) => setLit(threadId), []);
  const placedOf = useMemo(() => new Map(placed.map((one) => [one.strand.threadId, one])), [placed]);
  const summary = summaryOf(strands, heads[0]?.revision ?? null);
  const drawing = {
    ...{ appId, layout, width, from, to, summary },
    lit: lit ?? selected,
    onLit: light,
    hasMoreHeads: race.hasMoreHeads,
    isMoving: !isReading,
  };
  return (
    <div
      className="relative min-w-0 overflow-x-clip border-t border-line"
      style={{ height: rows.length * ROW }}
    >
      <Graph {...drawing} />
      <ol
        ref={box}
        aria-label="Open threads and revisions of the head, newest first"
        className="absolute inset-0"
      >
        {items.map(({ index, key }) => (
          <LedgerRow
            key={key}
            appId={appId}
            row={rows[index]!}
            place={{ index, count: rows.length, width, lanes }}
            placed={placedOf.get(rows[index]!.strand?.threadId ?? '') ?? null}
            folded={foldedAt(layout, index)}
            before={beforeOf(heads, rows[index]!)}
            isLit={rows[index]!.strand !== null && (lit ?? selected) === rows[index]!.strand?.threadId}
            isMoving={!isReading}
            onLit={light}
          />
        ))}
      </ol>
      <Hits {...drawing} />
    </div>
  );
}

/** At the tip, all that leave it upwards too; below, where the number is another than above. Above, marks say it. */
function foldedAt({ folded, tip }: Layout, row: number): number {
  if (row < tip) return 0;
  if (row === tip) return Math.max(folded[row] ?? 0, folded[row - 1] ?? 0);
  return folded[row] === folded[row - 1] ? 0 : (folded[row] ?? 0);
}

/** The source that the head was before this row's revision. */
function beforeOf(heads: Race['heads'], row: Layout['rows'][number]): string | null {
  if (row.kind !== 'revision') return null;
  return heads.find(({ revision }) => revision === row.head.revision - 1)?.sourceId ?? null;
}

/** Keeps what is read in its place when rows come above it. Whether the top is out of view. */
function useSteady(rows: Layout['rows'], margin: number): boolean {
  const seen = useRef({ rows, key: '' });
  const top = Math.max(0, window.scrollY - margin);
  const isReading = top > READING_PX;
  useLayoutEffect(() => {
    const before = seen.current;
    if (before.rows !== rows && before.key && isReading) {
      const at = before.rows.findIndex(({ key }) => key === before.key);
      const now = rows.findIndex(({ key }) => key === before.key);
      if (now !== -1 && now !== at) window.scrollBy(0, (now - at) * ROW);
    }
    seen.current = { rows, key: rows[Math.floor(Math.max(0, window.scrollY - margin) / ROW)]?.key ?? '' };
  });
  return isReading;
}
