/** One call of the test service, and what its operations have in common. */
import { Fault } from './fault.ts';
import { numberOf } from './input.ts';
import type { World } from './world.ts';

export interface Call {
  world: World;
  /** The ids of the path, in its order. */
  ids: string[];
  query: URLSearchParams;
  /** The parsed JSON; undefined without a body. */
  body: unknown;
  headers: Headers;
  signal: AbortSignal | undefined;
}

/** The members other than `ok`, or the whole answer. */
export type Reply = Record<string, unknown> | Response;

const LIMIT = 50;

/** One page of a list that is already in order. */
export function page<T extends object>(name: string, items: readonly T[], { query }: Call): Reply {
  const limit = numberOf(query, 'limit', [1, 200, LIMIT]);
  const cursor = query.get('cursor');
  const [of, start] = cursor === null ? [name, '0'] : cursor.split('-');
  if (of !== name || !/^\d+$/.test(start ?? ''))
    throw new Fault('invalid_cursor', 'This cursor does not belong to this list and its filters.');
  const end = Number(start) + limit;
  const hasMore = end < items.length;
  return { [name]: items.slice(Number(start), end), nextCursor: hasMore ? `${name}-${end}` : null, hasMore };
}

export const newestFirst = <T>(items: Iterable<T>): T[] => [...items].reverse();

/** Oldest first, or in the query's `order`. */
export const inOrder = <T>(items: readonly T[], { query }: Call): T[] =>
  query.get('order') === 'desc' ? newestFirst(items) : [...items];

/** Waits for the query's `waitSeconds`. */
export async function waitUntil({ world, query, signal }: Call, isEnded: () => boolean): Promise<void> {
  const until = Date.now() + numberOf(query, 'waitSeconds', [0, 30, 0]) * 1000;
  for (let left = until - Date.now(); left > 0 && !isEnded(); left = until - Date.now()) {
    if (signal?.aborted) return;
    await world.log.changed(left, signal);
  }
}
