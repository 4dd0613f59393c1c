/** What the race is drawn from, read page by page. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { appliesQuery, headHistoryQuery, threadsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import type { Row } from './layout.ts';
import { isShown, strandsOf } from './strands.ts';
import type { HeadOf, Strand } from './strands.ts';

export interface RaceFilter {
  status?: string | undefined;
  query?: string | undefined;
}

/** Pages that are read without a scroll: a filter that few threads match would read all there is. */
const PAGES = 5;

/** Those that the list of threads filters by as the race does: an apply changes what the others are here. */
const OF_THREADS = ['running', 'waiting', 'blocked', 'archived'] as const;

export function useRace(appId: string, { status, query }: RaceFilter) {
  const filter = query ? { query } : {};
  const listed = OF_THREADS.find((one) => one === status);
  const heads = useInfiniteQuery(headHistoryQuery(appId));
  const applies = useInfiniteQuery(appliesQuery(appId));
  const latest = useInfiniteQuery(threadsQuery(appId, filter));
  const threads = useInfiniteQuery(threadsQuery(appId, { ...filter, ...(listed && { status: listed }) }));
  const lists = [heads, applies, threads];
  const pages = lists.reduce((sum, { data }) => sum + (data?.pages.length ?? 0), 0);
  const { allowed, allow } = useAllowed(pages, `${status ?? ''} ${query ?? ''}`);

  const history = useMemo(() => {
    const records = heads.data?.pages.flatMap((page) => page.items) ?? [];
    return [...new Map(records.map((head) => [head.revision, head])).values()];
  }, [heads.data]);
  const read = useMemo(() => itemsOf(applies.data), [applies.data]);
  const everything = useMemo(
    () => strandsOf({ heads: history, applies: read, threads: itemsOf(latest.data) }),
    [history, read, latest.data],
  );
  const strands = useMemo(
    () =>
      strandsOf({ heads: history, applies: read, threads: itemsOf(threads.data) }).filter((strand) =>
        isShown(strand, { status, query }),
      ),
    [history, read, threads.data, status, query],
  );
  const movers = useMemo(
    () => new Map(everything.flatMap((strand) => (strand.joined === null ? [] : [[strand.joined, strand]]))),
    [everything],
  );
  const counts = useMemo(() => countsOf(everything, query), [everything, query]);

  /** Reads on where these rows leave something open, or at the end of all rows. */
  const readFor = useCallback(
    (rows: readonly Row[], isEnd: boolean) => {
      if (pages >= allowed) return;
      const unread = (head: HeadOf) => head.applyId !== null && !read.some(({ id }) => id === head.applyId);
      const needsApply = rows.some(
        (row) => row.kind === 'revision' && row.strand === null && unread(row.head),
      );
      const needsThread = rows.some((row) => row.strand !== null && row.strand.thread === null);
      const next = [
        (isEnd || needsApply) && applies,
        (isEnd || needsThread) && threads,
        isEnd && heads,
      ] as const;
      for (const list of next)
        if (list && list.hasNextPage && !list.isFetching && !list.isError) void list.fetchNextPage();
    },
    [read, applies, threads, heads, pages, allowed],
  );
  const hasMore = lists.some(({ hasNextPage }) => hasNextPage);
  const isReadingOn = lists.some(({ isFetchingNextPage }) => isFetchingNextPage);
  const isStopped = pages >= allowed || lists.some(({ isError }) => isError);

  return {
    heads: history,
    strands,
    /** Which thread joined as a revision, also where the filter leaves the thread out. */
    movers,
    counts,
    /** Applies in the queue, whatever the filter; null while they are not known. */
    queued: applies.data ? read.filter((apply) => apply.status === 'queued').length : null,
    /** The list of those that the filter finds. */
    threads,
    hasMoreThreads: latest.hasNextPage,
    hasMoreHeads: heads.hasNextPage,
    isLoading: lists.some(({ data, error }) => !data && !error),
    failed: lists.find(({ data, error }) => !data && error),
    hasMore,
    isReadingOn,
    readFor,
    /** Reads older ones; null while they are read by themselves, or all are there. */
    readOn:
      hasMore && isStopped && !isReadingOn
        ? () => {
            allow();
            for (const list of lists) if (list.hasNextPage && !list.isFetching) void list.fetchNextPage();
          }
        : null,
  };
}

export type Race = ReturnType<typeof useRace>;

/** How many pages may be read by themselves: some more after each scroll, and for each filter. */
function useAllowed(pages: number, filter: string): { allowed: number; allow: () => void } {
  const [{ of, allowed }, setState] = useState({ of: filter, allowed: pages + PAGES });
  if (of !== filter) setState({ of: filter, allowed: pages + PAGES });
  const allow = useCallback(
    () => setState((last) => (last.allowed === pages + PAGES ? last : { ...last, allowed: pages + PAGES })),
    [pages],
  );
  useEffect(() => {
    addEventListener('scroll', allow, { passive: true });
    return () => removeEventListener('scroll', allow);
  }, [allow]);
  return { allowed, allow };
}

/** How many threads there are of each status, archived ones too. */
function countsOf(strands: readonly Strand[], query: string | undefined): Map<string, number> {
  const counts = new Map<string, number>();
  for (const strand of strands)
    if (isShown(strand, { query, status: strand.status }))
      counts.set(strand.status, (counts.get(strand.status) ?? 0) + 1);
  return counts;
}
