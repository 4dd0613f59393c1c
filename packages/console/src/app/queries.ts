/** The page's one cache. */
import { HeadraceError } from '@headrace/client';
import { QueryClient } from '@tanstack/react-query';

/** Reads by events refetch; this is for what no event names. */
const STALE_MS = 30_000;
const KEPT_MS = 10 * 60_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      gcTime: KEPT_MS,
      // The client has repeated what may be repeated.
      retry: (failures, error) => failures < 1 && !(error instanceof HeadraceError),
      refetchOnWindowFocus: false,
      refetchOnReconnect: true,
      networkMode: 'always',
    },
  },
});
