import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok } from '../threads/threads.fixture.ts';

let s: TestServer;
let app: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  app = (await newApp(s)).at;
});
afterAll(async () => {
  await s?.close();
});

/** As if a worker elsewhere could make sandboxes so many seconds ago; null: there is none. */
async function workerSeen(secondsAgo: number | null): Promise<void> {
  const { ctx } = s.service;
  await ctx.db.deleteFrom('processes').where('id', '=', 'wrk_elsewhere').execute();
  if (secondsAgo !== null)
    await ctx.db
      .insertInto('processes')
      .values({
        id: 'wrk_elsewhere',
        host: 'elsewhere',
        roles: ['worker'],
        sandbox_seen_at: sql<Date>`now() - ${secondsAgo} * interval '1 second'`,
      })
      .execute();
  ctx.workerSeenAt = -Infinity;
}
beforeEach(() => {
  s.service.ctx.openedAt = -Infinity;
  return workerSeen(null);
});

const WORK: [string, string, unknown][] = [
  ['a message', '/messages', { content: 'hello' }],
  ['a retry', '/retry', {}],
  ['a command', '/exec', { command: 'true' }],
  ['a build', '/builds', { command: 'true', outputDirectory: '.' }],
  ['a preview', '/previews', { command: 'true', port: 3000 }],
];

async function newThread(): Promise<string> {
  return `${app}/threads/${(await ok(s.call('POST', `${app}/threads`, {}))).thread.id}`;
}

describe('201', () => {
  test('a message waits for the first worker of a deployment for 30 s, and no longer; where one was registered it is refused', async () => {
    const at = await newThread();
    const send = async () => (await s.call('POST', `${at}/messages`, { content: 'hello' })).status;
    s.service.ctx.openedAt = performance.now();
    expect(await send()).toBe(201);
    expect((await s.call('POST', `${await newThread()}/exec`, { command: 'true' })).status).toBe(503);
    s.service.ctx.openedAt = performance.now() - 30_001;
    expect(await send()).toBe(503);
    s.service.ctx.openedAt = performance.now();
    await workerSeen(31);
    expect(await send()).toBe(503);
  });
});

describe('503', () => {
  test.each(WORK)('%s is refused, and its key is free', async (name, path, body) => {
    const at = await newThread();
    if (name === 'a retry') {
      await workerSeen(0);
      const { run } = await ok(s.call('POST', `${at}/messages`, { content: 'hello' }));
      await s.service.ctx.db.updateTable('runs').set({ status: 'failed' }).where('id', '=', run.id).execute();
      await workerSeen(null);
    }
    const idem = randomUUID();
    const refused = await s.call('POST', at + path, body, { idem });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'source_workspace_unavailable']);
    expect(refused.headers.get('retry-after')).toBe('5');
    // Another body under the same key would be 409 if the key were reserved.
    const again = await s.call('POST', at + path, { ...(body as object), wrong: 1 }, { idem });
    expect(again.status).toBe(400);
    expect((await s.call('POST', at + path, body, { idem })).status).toBe(503);
  });

  test('a thread with a message is refused, one without is created', async () => {
    const refused = await s.call('POST', `${app}/threads`, { message: { content: 'hello' } });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'source_workspace_unavailable']);
    expect((await s.call('POST', `${app}/threads`, {})).status).toBe(201);
  });

  test('a worker that has been silent for 30 s does not count, one of 25 s does', async () => {
    const at = await newThread();
    const send = async () => (await s.call('POST', `${at}/messages`, { content: 'hello' })).status;
    await workerSeen(31);
    expect(await send()).toBe(503);
    await workerSeen(25);
    expect(await send()).toBe(201);
  });
});
