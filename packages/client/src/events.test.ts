import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { StreamItem } from './events.ts';
import { loopback, refusal, sendJson } from './loopback.fixture.ts';

const event = (n: number, type = 'run.running') => ({
  id: `evt_${n}`,
  type,
  appId: 'prj_1',
  cursor: `c${n}`,
  data: {},
});
const frame = (type: string, data: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const eventFrame = (n: number, type?: string) => frame(event(n, type).type, event(n, type), `c${n}`);

function sendFrames(response: ServerResponse, ...frames: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frames.join(''));
}

async function collect(items: AsyncGenerator<StreamItem>, count: number): Promise<StreamItem[]> {
  const collected: StreamItem[] = [];
  for await (const item of items) if (item.kind !== 'open' && collected.push(item) === count) break;
  return collected;
}
const ids = (items: StreamItem[]) => items.map((item) => (item.kind === 'event' ? item.event.id : item.kind));

test('a stream that is cut resumes at its last cursor and shows no event twice', async () => {
  await using server = await loopback((response, { url }, number) => {
    if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: 'c0' });
    else if (number === 2) {
      sendFrames(response, eventFrame(1), eventFrame(2));
      setImmediate(() => response.destroy());
    } else sendFrames(response, eventFrame(2), eventFrame(3));
  });
  expect(
    ids(await collect(server.client.events.stream({ appId: 'prj_1', types: ['run.running'] }), 3)),
  ).toEqual(['evt_1', 'evt_2', 'evt_3']);
  const [head, first, second] = server.seen;
  expect([head!.url, first!.url]).toEqual([
    '/api/platform/v1/apps/prj_1/events/head?types=run.running',
    '/api/platform/v1/apps/prj_1/events/stream?types=run.running',
  ]);
  expect([first!.headers['last-event-id'], second!.headers['last-event-id']]).toEqual(['c0', 'c2']);
});

test('a heartbeat moves the cursor on; drafts do not', async () => {
  await using server = await loopback((response, _, number) => {
    if (number === 1) {
      sendFrames(
        response,
        frame('heartbeat', { cursor: 'c9' }, 'c9'),
        frame('draft', { threadId: 'thr_1', messageId: 'msg_1', runId: 'run_1', revision: 1, content: 'Hi' }),
      );
      response.end();
    } else sendFrames(response, eventFrame(10));
  });
  expect(ids(await collect(server.client.events.stream({}, { cursor: 'c1' }), 2))).toEqual([
    'draft',
    'evt_10',
  ]);
  expect(server.seen.map((s) => s.headers['last-event-id'])).toEqual(['c1', 'c9']);
});

test.each(['cursor_expired', 'cursor_scope_changed'])(
  '%s, as an answer or a frame, becomes a reset from a new head',
  async (code) => {
    await using server = await loopback((response, { url }, number) => {
      if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: `head${number}` });
      else if (number === 1) sendJson(response, 410, refusal(code));
      else if (number === 3) {
        sendFrames(response, frame('error', { code, message: 'No.' }));
        response.end();
      } else sendFrames(response, eventFrame(1));
    });
    const items = await collect(server.client.events.stream({}, { cursor: 'old' }), 3);
    expect(items.slice(0, 2)).toEqual([
      { kind: 'reset', code, cursor: 'head2' },
      { kind: 'reset', code, cursor: 'head4' },
    ]);
    expect(server.seen.at(-1)!.headers['last-event-id']).toBe('head4');
  },
);

test('a stream ends with its app, and throws when the key may not read on', async () => {
  await using server = await loopback((response, _, number) => {
    if (number === 1) sendFrames(response, eventFrame(1, 'platform.app.deleted'));
    else sendJson(response, 403, refusal('forbidden'));
  });
  expect(ids(await collect(server.client.events.stream({ appId: 'prj_1' }, { cursor: 'c0' }), 9))).toEqual([
    'evt_1',
  ]);
  await expect(
    collect(server.client.events.stream({ appId: 'prj_1' }, { cursor: 'c0' }), 1),
  ).rejects.toMatchObject({ status: 403 });
});

test('a replay reads page after page to the end', async () => {
  await using server = await loopback((response, _, number) =>
    sendJson(response, 200, {
      ok: true,
      events: [event(number)],
      nextCursor: `c${number}`,
      hasMore: number < 3,
    }),
  );
  const seen: string[] = [];
  for await (const { id } of server.client.events.replay({ appId: 'prj_1' })) seen.push(id);
  expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3']);
  expect(server.seen.map((s) => new URLSearchParams(s.url.split('?')[1]).get('cursor'))).toEqual([
    null,
    'c1',
    'c2',
  ]);
});
