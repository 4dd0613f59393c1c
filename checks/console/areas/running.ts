/** The pages of the system, events and operations. */
import type { Site } from '../ground.ts';
import { none } from '../scene.ts';
import type { Area } from './area.ts';

/** What they show. */
export async function runningGround({ client }: Site) {
  const key = 'import-of-the-evening';
  const refusedKey = 'a-name-that-is-taken';
  const app = await client.apps.create({ name: 'Imports', externalId: 'imports' }, { idempotencyKey: key });
  await client.apps
    .create({ name: 'Imports', externalId: 'imports' }, { idempotencyKey: refusedKey })
    .catch(() => {});
  const { items } = await client.operations.list({ idempotencyKey: key });
  return { appId: app.id, operationId: items[0]!.id, key, refusedKey };
}

export const RUNNING: Area = {
  pages: [
    { name: 'system', path: () => '/console/system', read: /^GET \/api\/system(\?|$)/ },
    {
      name: 'events',
      path: () => '/console/events',
      read: /^GET \/api\/platform\/v1\/events\?/,
      empty: 'service',
    },
    {
      name: 'operations',
      path: ({ areas }) => `/console/operations?key=${areas.running.key}`,
      read: /^GET \/api\/operations\?/,
    },
    {
      name: 'operation',
      path: ({ areas }) => `/console/operations/${areas.running.operationId}`,
      read: /^GET \/api\/operations\/op_/,
      unknown: ({ areas }) => `/console/operations/${none(areas.running.operationId)}`,
    },
  ],
  scenes: [
    { name: 'events-direct', path: () => '/console/events?feed=direct' },
    {
      name: 'event-unfolded',
      path: () => '/console/events?types=platform.apply.applied&paused=true',
      prepare: ({ page }) => page.getByRole('list', { name: 'Events' }).getByRole('button').first().click(),
    },
    {
      name: 'event-types',
      path: () => '/console/events?paused=true',
      prepare: ({ page }) => page.getByRole('button', { name: 'All types' }).click(),
    },
    { name: 'event-none', path: () => '/console/events?types=pull_request.updated' },
    { name: 'operations-about', path: () => '/console/operations' },
    {
      name: 'operation-failed',
      path: ({ areas }) => `/console/operations?key=${areas.running.refusedKey}`,
    },
    { name: 'operation-none', path: () => '/console/operations?key=nobody-has-sent-this' },
  ],
  writes: [],
};
