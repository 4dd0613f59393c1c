import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loopback, refusal, sendJson } from '../loopback.fixture.ts';
import { event } from './feed.fixture.ts';

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

const queryOf = ({ url }: { url: string }) => Object.fromEntries(new URLSearchParams(url.split('?')[1]));

test('a replay reads page after page to the end', async () => {
  await using server = await loopback((response, _, number) =>
    sendJson(response, 200, { events: [event(number)], nextCursor: `c${number}`, hasMore: number < 3 }),
  );
  const seen: string[] = [];
  for await (const { id } of server.client.events.replay({ appId: 'prj_1' })) seen.push(id);
  expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3']);
  expect(server.seen.map((s) => queryOf(s).cursor)).toEqual([undefined, 'c1', 'c2']);
});

test('a replay that follows waits at the end, and for the service', async () => {
  await using server = await loopback((response, _, number) => {
    if (number > 2 && number < 30) return sendJson(response, 500, refusal('internal_error'));
    const events = number === 2 ? [] : [event(number)];
    sendJson(response, 200, { events, nextCursor: `c${number}`, hasMore: false });
  });
  const seen: string[] = [];
  let heard = 0;
  const options = { follow: true, onHeard: () => void heard++ };
  for await (const { id } of server.client.events.replay({ direct: true }, options))
    if (seen.push(id) === 2) break;
  expect(seen).toEqual(['evt_1', 'evt_30']);
  // Three pages, one of them empty.
  expect(heard).toBe(3);
  expect(queryOf(server.seen.at(-1)!)).toEqual({ limit: '500', cursor: 'c2', waitSeconds: '25' });
});

test.each([true, false])('an expired cursor ends a replay (follow: %s)', async (follow) => {
  await using server = await loopback((response) => sendJson(response, 410, refusal('cursor_expired')));
  await expect(server.client.events.replay({}, { cursor: 'old', follow }).next()).rejects.toMatchObject({
    status: 410,
    code: 'cursor_expired',
  });
});

test('a page is read in either order', async () => {
  const page = { events: [event(1)], nextCursor: 'c1', hasMore: false };
  await using server = await loopback((response) => sendJson(response, 200, { ok: true, ...page }));
  expect(await server.client.events.list({ threadId: 'thr_1' }, { order: 'desc', limit: 1 })).toMatchObject(
    page,
  );
  expect(server.seen[0]!.url).toBe('/api/platform/v1/events?threadId=thr_1&limit=1&order=desc');
});
