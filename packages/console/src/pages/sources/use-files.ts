import type { SourceFile } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { filesQuery } from '../../api/queries.ts';

/** Pages that are read by themselves: more would cost a reader's other requests. */
const PAGES = 5;

interface Files {
  files: SourceFile[];
  error: unknown;
  /** Why the list stops short. */
  fault: string | null;
  isLoading: boolean;
  isComplete: boolean;
  retry: () => void;
  /** Reads the next ones; null while all are there, or on their way. */
  more: (() => void) | null;
}

/** The files of a source, the first 1,000 at once. */
export function useFiles(appId: string, sourceId: string): Files {
  const query = useInfiniteQuery(filesQuery(appId, sourceId));
  const [pages, setPages] = useState(PAGES);
  const { hasNextPage, isFetching, error, fetchNextPage } = query;
  const read = query.data?.pages.length ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetching && !error && read < pages) void fetchNextPage();
  }, [hasNextPage, isFetching, error, read, pages, fetchNextPage]);
  const files = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return {
    files,
    error: query.data ? null : error,
    fault: query.data && error ? faultOf(error).message : null,
    isLoading: query.data === undefined && !error,
    isComplete: query.data !== undefined && !hasNextPage,
    retry: () => void query.refetch(),
    more:
      hasNextPage && !isFetching && (read >= pages || error)
        ? () => {
            setPages(read + PAGES);
            void fetchNextPage();
          }
        : null,
  };
}
