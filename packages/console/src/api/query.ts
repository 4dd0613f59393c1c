/** How a page reads: one resource, or a list page by page. `meta.follows` is what the live store refetches by. */
import type { Page, PageOptions } from '@headrace/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { Follows } from '../live/index.ts';
import { READ_TIMEOUT_MS } from './client.ts';

export const READ = { timeoutMs: READ_TIMEOUT_MS };
/** A page of a list. */
export const PAGE_ITEMS = 50;

/** One resource. */
export const one = <T>(
  queryKey: QueryKey,
  follows: Follows | null,
  read: (options: { signal: AbortSignal }) => PromiseLike<T>,
) =>
  queryOptions({
    queryKey,
    queryFn: async ({ signal }) => await read({ ...READ, signal }),
    ...(follows && { meta: { follows } }),
  });

/** A list, page by page. `itemsOf` flattens what was read. */
export const many = <T>(
  queryKey: QueryKey,
  follows: Follows | null,
  read: (options: PageOptions, cache: QueryClient) => PromiseLike<Page<T>>,
  limit = PAGE_ITEMS,
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal, client: cache }): Promise<Page<T>> =>
      await read({ ...READ, signal, limit, ...(pageParam !== null && { cursor: pageParam }) }, cache),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<T>) => last.nextCursor,
    ...(follows && { meta: { follows } }),
  });

/** The items of all pages that were read, each id once: pages shift while new items arrive. */
export function itemsOf<T extends { id: string }>(data: { pages: Page<T>[] } | undefined): T[] {
  const seen = new Map<string, T>();
  for (const item of data?.pages.flatMap((page) => page.items) ?? [])
    if (!seen.has(item.id)) seen.set(item.id, item);
  return [...seen.values()];
}
