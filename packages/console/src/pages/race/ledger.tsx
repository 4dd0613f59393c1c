/** The ledger: a row for each open thread and each revision, with the race in its margin. */
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Graph, Hits } from './graph.tsx';
import type { Layout } from './layout.ts';
import type { NameOfHead } from './head-names.ts';
import { LedgerRow } from './ledger-row.tsx';
import { ROW, widthOf } from './shape.ts';
import type { Race } from './use-race.ts';
import { useLayout } from './use-layout.ts';
import { useRoom } from './use-room.ts';
import { useRows } from './use-rows.ts';
import { summaryOf } from './words.ts';

/** So far from the top, new rows do not push what is read. */
const READING_PX = ROW;

export function Ledger({
  appId,
  race,
  nameOf,
  isFiltered,
  selected,
}: {
  appId: string;
  race: Race;
  nameOf: NameOfHead;
  isFiltered: boolean;
  selected: string | null;
}) {
  const { heads, strands, readFor } = race;
  const capacity = useRoom();
  const layout = useLayout({ heads, strands, capacity, isFiltered });
  const { rows, lanes, placed } = layout;
  const width = widthOf(
    lanes,
    placed.some(({ isFolded }) => isFolded),
  );

  const { box, margin, from, to } = useRows(rows, readFor);
  const isReading = useSteady(rows, margin);

  const [lit, setLit] = useState<string | null>(null);
  const light = useCallback((threadId: string | null) => setLit(threadId), []);
  const placedOf = useMemo(() => new Map(placed.map((one) => [one.strand.threadId, one])), [placed]);
  const summary = summaryOf(strands, heads[0]?.revision ?? null);
  const drawing = {
    appId,
    layout,
    width,
    from,
    to,
    summary,
    lit: lit ?? selected,
    onLit: light,
    hasMoreHeads: race.hasMoreHeads,
    isMoving: !isReading,
  };
  return (
    <div
      ref={box}
      className="relative min-w-0 overflow-x-clip border-t border-line"
      style={{ height: rows.length * ROW }}
    >
      <Graph {...drawing} />
      <ol aria-label="Open threads and revisions of the head, newest first" className="absolute inset-0">
        {rows.slice(from, to + 1).map((row, i) => (
          <LedgerRow
            key={row.key}
            appId={appId}
            row={row}
            place={{ index: from + i, count: rows.length, width, lanes }}
            placed={placedOf.get(row.strand?.threadId ?? '') ?? null}
            folded={foldedAt(layout, from + i)}
            mover={(row.kind === 'revision' && race.movers.get(row.head.revision)) || null}
            before={beforeOf(heads, row)}
            nameOf={nameOf}
            isLit={row.strand !== null && drawing.lit === row.strand.threadId}
            isMoving={!isReading}
            onLit={light}
          />
        ))}
      </ol>
      <Hits {...drawing} />
    </div>
  );
}

/** Every so many rows, the number of threads that there is no room for is said again. */
const SAID_ROWS = 10;

/** At the tip, all that leave it upwards too; below, where they begin and now and then. Above, marks say it. */
function foldedAt({ folded, tip }: Layout, row: number): number {
  if (row < tip) return 0;
  const here = folded[row] ?? 0;
  const above = folded[row - 1] ?? 0;
  if (row === tip) return Math.max(here, above);
  return above === 0 || (row - tip) % SAID_ROWS === 0 ? here : 0;
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
