/** What the pages of the system and of operations read. */
import type { Operation } from '@headrace/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { serviceNow } from './clock.ts';
import { itemsOf, many, one, READ } from './query.ts';

/** While a page is looked at. */
export const SYSTEM_EVERY_MS = 5_000;
const STUCK_EVERY_MS = 30_000;
const PENDING_EVERY_MS = 2_000;
/** The service itself looks again every few minutes. */
const UNCERTAIN_EVERY_MS = 30_000;
/** As many as one page of the API has. */
const MOST_SCOPES = 200;

/** The state of the deployment, and when it was read. It publishes no event. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ signal }) => {
    const system = await client.system.get({ ...READ, signal });
    return { system, readAt: serviceNow() };
  },
  staleTime: 0,
  refetchInterval: SYSTEM_EVERY_MS,
  refetchOnWindowFocus: true,
});

/** What has not moved for so many seconds though it should, oldest first. */
export const stuckQuery = (seconds: number) => ({
  ...many(['system', 'stuck', seconds], null, (options) => client.system.stuck({ ...options, seconds })),
  staleTime: 0,
  refetchInterval: STUCK_EVERY_MS,
});

/** How soon receipts are read again: those of apps publish no event. */
function everyMs(operations: readonly { status: string }[]): number | false {
  const has = (wanted: string) => operations.some(({ status }) => status === wanted);
  if (has('pending')) return PENDING_EVERY_MS;
  return has('uncertain') && UNCERTAIN_EVERY_MS;
}

/** The receipt of a write. */
export const operationQuery = (operationId: string) => ({
  ...one(['operations', operationId], { types: ['operation.'], ids: [operationId] }, (options) =>
    client.operations.get(operationId, options),
  ),
  staleTime: 0,
  refetchInterval: ({ state }: { state: { data?: { status: string } | undefined } }) =>
    state.data ? everyMs([state.data]) : false,
});

/** All receipts of an idempotency key, newest first. */
export const operationsQuery = (key: string) => ({
  ...many(['operations', 'of', key], { types: ['operation.'] }, (options) =>
    client.operations.list({ ...options, idempotencyKey: key }),
  ),
  staleTime: 0,
  refetchInterval: ({ state }: { state: { data?: Parameters<typeof itemsOf<Operation>>[0] } }) =>
    everyMs(itemsOf(state.data)),
});

/** The newest apps or projects, to choose one by its name. */
export const scopesQuery = (kind: 'direct' | 'platform') => ({
  ...one(['events', 'scopes', kind], { types: ['platform.app.'] }, async (options) => {
    const { items } = await client.projects.list({ ...options, kind, limit: MOST_SCOPES });
    return items.map(({ id, name }) => ({ id, name }));
  }),
  staleTime: 0,
});
