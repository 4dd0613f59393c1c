/**
 * The ledger's rows, newest on top, and the lanes that threads have beside them. A row is a thread that has not joined
 * or a revision of the head. Everything here is pure; rows are counted from 0 at the top.
 */
import type { HeadOf, Strand } from './strands.ts';

export type Row =
  | { key: string; kind: 'thread'; strand: Strand }
  | {
      key: string;
      kind: 'revision';
      head: HeadOf;
      /** The thread that joined here. */
      strand: Strand | null;
      isTip: boolean;
      /** Revisions between this row and the next are filtered out. */
      hasGap: boolean;
    };

/** A strand in its lane, from the row where it leaves the head up to the row where it ends. */
export interface Placed {
  strand: Strand;
  /** From 0, the one nearest to the head; `BESIDE` for a thread that joined at the very next revision. */
  lane: number;
  top: number;
  /** The row of its base; the number of rows if that is below them. */
  bottom: number;
  isFolded: boolean;
}

/** Not a lane: such a thread only bulges from the head's line, where nothing else can be. */
export const BESIDE = -1;

export interface Layout {
  rows: Row[];
  placed: Placed[];
  /** Lanes that are drawn and used. */
  lanes: number;
  /** For each row, how many strands pass or end there in lanes that are not drawn. */
  folded: number[];
  /** The row of the newest revision; the number of threads' rows if there is none. */
  tip: number;
  /** For the next layout. */
  kept: ReadonlyMap<string, number>;
}

export interface LayoutOptions {
  /** Lanes that there is room for. */
  capacity: number;
  /** Lanes of the last layout: they stay while nothing else is in them. */
  kept?: ReadonlyMap<string, number>;
  /** Only revisions at which one of the strands leaves or joins, and the newest. */
  isFiltered?: boolean;
}

export function layOut(heads: readonly HeadOf[], strands: readonly Strand[], options: LayoutOptions): Layout {
  const rows = rowsOf(heads, strands, options.isFiltered ?? false);
  const spans = spansOf(rows, strands);
  const kept = new Map(
    [...(options.kept ?? [])].filter(([, lane]) => lane !== BESIDE && lane < options.capacity),
  );
  const lanes = lanesOf(spans, kept);
  const placed = spans.map(({ strand, top, bottom }): Placed => {
    const lane = lanes.get(strand.threadId)!;
    return { strand, lane, top, bottom, isFolded: lane >= options.capacity };
  });
  const drawn = placed.filter(({ isFolded }) => !isFolded);
  const tip = rows.findIndex(({ kind }) => kind === 'revision');
  return {
    rows,
    placed,
    lanes: drawn.reduce((most, { lane }) => Math.max(most, lane + 1), 0),
    folded: foldedOf(rows.length, placed),
    tip: tip === -1 ? rows.length : tip,
    kept: lanes,
  };
}

/** Nearest to the head are the queue, then what stopped before the head, then what goes on. */
const ORDER = { open: 0, failure: 1, conflict: 1, queue: 2, joined: 3 };

function compareOpen(a: Strand, b: Strand): number {
  return (
    ORDER[a.ending] - ORDER[b.ending] ||
    (b.position ?? 0) - (a.position ?? 0) ||
    compare(b.thread?.createdAt ?? '', a.thread?.createdAt ?? '') ||
    compare(b.threadId, a.threadId)
  );
}
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export function rowsOf(heads: readonly HeadOf[], strands: readonly Strand[], isFiltered: boolean): Row[] {
  const open = strands.filter(({ ending }) => ending !== 'joined').toSorted(compareOpen);
  const joined = new Map(
    strands.flatMap((strand) => (strand.joined === null ? [] : [[strand.joined, strand]])),
  );
  const bases = new Set(strands.map(({ base }) => base));
  const all = heads.toSorted((a, b) => b.revision - a.revision);
  const shown = all.filter(
    ({ revision }, i) => !isFiltered || i === 0 || joined.has(revision) || bases.has(revision),
  );
  return [
    ...open.map((strand): Row => ({ key: strand.threadId, kind: 'thread', strand })),
    ...shown.map((head, i): Row => ({
      key: `r${head.revision}`,
      kind: 'revision',
      head,
      strand: joined.get(head.revision) ?? null,
      isTip: i === 0,
      hasGap: i + 1 < shown.length && shown[i + 1]!.revision !== head.revision - 1,
    })),
  ];
}

export interface Span {
  strand: Strand;
  top: number;
  bottom: number;
}

/** From row to row. A lane is taken in the gaps between them, so one may join where the next leaves. */
function spansOf(rows: readonly Row[], strands: readonly Strand[]): Span[] {
  const rowOf = new Map(rows.map((row, i) => [row.key, i]));
  return strands.flatMap((strand): Span[] => {
    const top = rowOf.get(strand.joined === null ? strand.threadId : `r${strand.joined}`);
    if (top === undefined) return [];
    const bottom = strand.base === null ? rows.length : (rowOf.get(`r${strand.base}`) ?? rows.length);
    return [{ strand, top, bottom }];
  });
}

/** Nearest to the head are those that lead to it; those that rest give way to those that are at work. */
function rankOf({ strand: { ending, status } }: Span): number {
  if (ending !== 'open') return 0;
  return status === 'ready' || status === 'archived' ? 2 : 1;
}

/**
 * No two spans share a lane in a gap. Short ones are placed first, nearest to the head: what begins and ends within
 * another one's span then crosses nothing.
 */
export function lanesOf(
  spans: readonly Span[],
  kept: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const lanes: Span[][] = [];
  const found = new Map<string, number>();
  const isFree = (lane: number, { top, bottom }: Span) =>
    lanes[lane]?.every((other) => other.bottom <= top || bottom <= other.top) ?? true;
  const keptOf = ({ strand }: Span) => kept.get(strand.threadId) ?? Number.POSITIVE_INFINITY;
  const first = (a: Span, b: Span) =>
    Number(keptOf(a) === Number.POSITIVE_INFINITY) - Number(keptOf(b) === Number.POSITIVE_INFINITY) ||
    rankOf(a) - rankOf(b) ||
    a.bottom - a.top - (b.bottom - b.top) ||
    b.bottom - a.bottom ||
    compare(a.strand.threadId, b.strand.threadId);
  for (const span of spans.toSorted(first)) {
    if (span.strand.ending === 'joined' && span.strand.base !== null && span.bottom - span.top === 1) {
      found.set(span.strand.threadId, BESIDE);
      continue;
    }
    let lane = keptOf(span);
    if (lane === Number.POSITIVE_INFINITY || !isFree(lane, span)) {
      lane = 0;
      while (!isFree(lane, span)) lane++;
    }
    while (lanes.length <= lane) lanes.push([]);
    lanes[lane]!.push(span);
    found.set(span.strand.threadId, lane);
  }
  return found;
}

function foldedOf(count: number, placed: readonly Placed[]): number[] {
  const steps = Array.from({ length: count + 1 }, () => 0);
  for (const { isFolded, top, bottom } of placed) {
    if (!isFolded) continue;
    steps[top]!++;
    steps[bottom]!--;
  }
  let sum = 0;
  return steps.slice(0, count).map((step) => (sum += step));
}
