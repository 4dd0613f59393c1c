/**
 * Cursors that are none, or not of this feed: the same named error on pages and on streams, as `cursor` and
 * as `Last-Event-ID`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { makeServiceKey } from '../accounts/index.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { feedClient, P, query } from './feeds.fixture.ts';
import type { Fields } from './feeds.fixture.ts';
import { until } from './events.fixture.ts';

let s: TestServer;
let app: string;
let other: string;
let threadId: string;
let events: { id: string; cursor: string; sequence: string }[];
const {
  createApp,
  createSeededApp,
  createThread,
  rename,
  page,
  pageOf,
  head,
  refused,
  refusedCursor,
  stream,
  account,
  owner,
} = feedClient(() => s);
const feed = () => `${P}/apps/${app}/events`;

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  [app, other] = [await createSeededApp(), await createApp()];
  threadId = await createThread(app);
  await rename(app);
  ({ events } = await pageOf(feed(), 3));
});
afterAll(() => s?.close());

describe('400 invalid_cursor', () => {
  test('what is none: forged, cut, altered at any place, of another encoding', async () => {
    const { cursor } = events[0]!;
    const bytes = Buffer.from(cursor, 'base64url');
    const altered = [0, 5, 12, 20, bytes.length - 1].map((at) => {
      const copy = Buffer.from(bytes);
      copy[at]! ^= 1;
      return copy.toString('base64url');
    });
    const forged = Buffer.concat([Buffer.alloc(12), bytes.subarray(12)]).toString('base64url');
    for (const wrong of [
      ...altered,
      forged,
      cursor.slice(0, -1),
      cursor.slice(0, 10),
      `${cursor}A`,
      `${cursor}=`,
      bytes.toString('hex'),
      'null',
      '0',
      'AAAA',
      '%F0%9F',
    ])
      await refusedCursor(feed(), wrong);
  });

  test('what names an event in another way: its id, its sequence number', async () => {
    for (const { id, sequence } of events)
      for (const wrong of [id, sequence, `${sequence}.0`]) await refusedCursor(feed(), wrong);
  });

  test('the cursor of a list', async () => {
    const { body } = await s.call('GET', `${P}/apps?limit=1`);
    await refusedCursor(feed(), body.nextCursor);
    await refusedCursor('/api/events', body.nextCursor);
  });

  test('of another feed, app or API, each with each', async () => {
    const feeds = [feed(), `${P}/apps/${other}/events`, `${P}/events`, '/api/events'];
    const cursors = await Promise.all(feeds.map((one) => head(one)));
    for (const [i, made] of cursors.entries())
      for (const [j, used] of feeds.entries()) if (i !== j) await refusedCursor(used, made);
  });

  test('of other filters, with less, more and others', async () => {
    const filters: Fields[] = [
      {},
      { threadId },
      { types: 'run.queued' },
      { types: 'run.queued,run.failed' },
      { runId: newId('run') },
      { threadId, types: 'run.queued' },
    ];
    const cursors = await Promise.all(filters.map((fields) => head(feed(), fields)));
    for (const [i, cursor] of cursors.entries())
      for (const [j, fields] of filters.entries()) if (i !== j) await refusedCursor(feed(), cursor, fields);
    // The order of types, their repetition, `limit` and `waitSeconds` are none.
    await page(feed(), {
      types: 'run.failed,run.queued,run.queued',
      cursor: cursors[3]!,
      limit: 5,
      waitSeconds: 0,
    });
  });

  test('of another organization and of another service, also for the feeds that have one address', async () => {
    const cookie = await owner();
    const made = await s.call('POST', '/api/organizations', { name: 'Other' }, { cookie });
    expect(made.status, made.text).toBe(201);
    const asOther = async (organizationId: string) =>
      expect((await s.call('PUT', '/api/session/organization', { organizationId }, { cookie })).status).toBe(
        200,
      );
    await asOther(made.body.organization.id);
    for (const path of [`${P}/events`, '/api/events']) {
      const cursor = await head(path);
      const res = await s.call('GET', `${path}?${query({ cursor })}`, undefined, { cookie });
      expect([res.status, res.body.error?.code], path).toEqual([400, 'invalid_cursor']);
    }
    const second = await startTestServer({
      HEADRACE_ROLES: 'api',
      HEADRACE_SECRET_KEY: 'another secret of at least 32 characters',
      HEADRACE_BOOTSTRAP_KEY: makeServiceKey(),
    });
    try {
      for (const path of [`${P}/events`, '/api/events'])
        await refusedCursor(
          path,
          (await second.call('GET', `${path}/head`, undefined, { key: second.key })).body.cursor,
        );
    } finally {
      await second.close();
    }
  });
});

describe('410', () => {
  test('cursor_expired: behind the end of a log that was lost', async () => {
    const cursor = await head(feed());
    await s.service.ctx.db
      .updateTable('log_state')
      .set((eb) => ({ last_sequence: eb('last_sequence', '-', 1) }))
      .execute();
    try {
      await refusedCursor(feed(), cursor, {}, 410, 'cursor_expired');
    } finally {
      await s.service.ctx.db
        .updateTable('log_state')
        .set((eb) => ({ last_sequence: eb('last_sequence', '+', 1) }))
        .execute();
    }
    await page(feed(), { cursor });
  });

  test('cursor_scope_changed: on all apps, whether the key gained or lost one; its own app’s cursors and the Direct feed’s go on', async () => {
    const limited = await account([app]);
    const [all, own, direct] = [
      await head(`${P}/events`, {}, limited.key),
      await head(feed(), {}, limited.key),
      await head('/api/events', {}, limited.key),
    ];
    const open = await stream(`${P}/events/stream`, { 'x-api-key': limited.key });
    await limited.patch({ projectIds: [app, other] });
    await until(() => open.isOver, 10_000);
    expect(open.frames.at(-1)).toMatchObject({ event: 'error', data: { code: 'cursor_scope_changed' } });
    await refusedCursor(`${P}/events`, all, {}, 410, 'cursor_scope_changed', limited.key);
    await page(feed(), { cursor: own }, limited.key);
    await page('/api/events', { cursor: direct }, limited.key);
    // An unrestricted key's cursor is of another scope; the same set in another order is none.
    await refusedCursor(
      `${P}/events`,
      await head(`${P}/events`),
      {},
      410,
      'cursor_scope_changed',
      limited.key,
    );
    const now = await head(`${P}/events`, {}, limited.key);
    await limited.patch({ projectIds: [other, app] });
    await page(`${P}/events`, { cursor: now }, limited.key);
    await limited.patch({ projectIds: null });
    await refusedCursor(`${P}/events`, now, {}, 410, 'cursor_scope_changed', limited.key);
  });

  test('an app that a key never had is 403, with whatever cursor', async () => {
    const limited = await account([app]);
    await refused(
      `${P}/apps/${other}/events?${query({ cursor: await head(`${P}/apps/${other}/events`) })}`,
      403,
      'forbidden',
      { key: limited.key },
    );
  });
});
