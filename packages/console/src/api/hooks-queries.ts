/** What pages read of webhooks, MCP servers, models and their keys. No event tells of these. */
import type { Delivery, Page } from '@headrace/client';
import { client } from './client.ts';
import { serviceNow } from './clock.ts';
import { listAgainIn, QUIET_EVERY_MS, readAgainIn } from './hooks-timing.ts';
import { itemsOf, many, one } from './query.ts';

export const webhooksQuery = () => ({
  ...many(['webhooks'], null, (options) => client.webhooks.list(options)),
  staleTime: 0,
});

export const webhookQuery = (webhookId: string) => ({
  ...one(['webhook', webhookId], null, (options) => client.webhooks.get(webhookId, options)),
  staleTime: 0,
  refetchInterval: QUIET_EVERY_MS,
  refetchOnWindowFocus: true,
});

export type DeliveryFilter = NonNullable<Parameters<typeof client.webhooks.deliveries>[1]>;

/** `isOff`: the webhook is, so what is pending waits. */
export const deliveriesQuery = (
  webhookId: string,
  isOff: boolean,
  filter: Pick<DeliveryFilter, 'status' | 'eventType'> = {},
) => ({
  ...many(
    ['webhook', webhookId, 'deliveries', filter],
    null,
    (options) => client.webhooks.deliveries(webhookId, { ...options, ...filter }),
    25,
  ),
  staleTime: 0,
  refetchInterval: ({ state: { data } }: { state: { data: { pages: Page<Delivery>[] } | undefined } }) =>
    listAgainIn(itemsOf(data), isOff, { pages: data?.pages.length ?? 1, now: serviceNow() }),
  refetchOnWindowFocus: true,
});

export const deliveryQuery = (webhookId: string, isOff: boolean, deliveryId: string) => ({
  ...one(['webhook', webhookId, 'delivery', deliveryId], null, (options) =>
    client.webhooks.delivery(webhookId, deliveryId, options),
  ),
  staleTime: 0,
  refetchInterval: ({ state: { data } }: { state: { data: Delivery | undefined } }) =>
    data !== undefined && readAgainIn([data], isOff, serviceNow()),
});

export const mcpServersQuery = () => ({
  ...many(['mcp-servers'], null, (options) => client.mcpServers.list(options)),
  staleTime: 0,
});

/** For a form: it begins with what is there now, not with what was read before. */
export const mcpServerQuery = (serverId: string) => ({
  ...one(['mcp-server', serverId], null, (options) => client.mcpServers.get(serverId, options)),
  staleTime: 0,
  gcTime: 0,
});

/** Apps and projects to choose from, newest first; `kind`: of one kind only. No event tells of new projects. */
export const projectChoicesQuery = (kind?: 'direct' | 'platform') => ({
  ...many(
    ['projects', 'to choose', kind ?? 'all'],
    { types: ['platform.app.'] },
    (options) => client.projects.list({ ...options, ...(kind && { kind }) }),
    200,
  ),
  staleTime: 0,
});

/** By id, all of them. A page has 200. */
export const pricedModelsQuery = () => ({
  ...many(['models', 'priced'], null, (options) => client.models.list(options), 200),
  staleTime: 0,
});

export const modelKeysQuery = () => ({
  ...one(['model-keys'], null, (options) => client.modelKeys.list({ ...options, limit: 200 })),
  staleTime: 0,
});
