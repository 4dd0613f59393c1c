import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const FILES = [
  { mediaType: 'image/png', bytes: Buffer.from([0x89, 0x50, 0, 0xff]) },
  { mediaType: 'text/html', bytes: Buffer.from('<script>alert(1)</script>') },
  { mediaType: 'text/plain', bytes: Buffer.alloc(5_000, 'x') },
  { mediaType: 'application/octet-stream', bytes: Buffer.alloc(0) },
];

const send = async (b: Bench, files = FILES) =>
  (
    await b.send('Look.', {
      attachments: files.map(({ mediaType, bytes }) => ({ mediaType, data: bytes.toString('base64') })),
    })
  ).message;

test('each attachment comes back byte for byte, as a file that a browser saves', async () => {
  const b = await newBench(s);
  const message = await send(b);
  expect(message.attachments).toEqual(
    FILES.map(({ mediaType, bytes }, index) => ({ index, mediaType, byteSize: bytes.length })),
  );
  for (const [index, { mediaType, bytes }] of FILES.entries())
    for (const at of [b.at, `/api/threads/${b.threadId}`]) {
      const answer = await fetch(`${s.base}${at}/messages/${message.id}/attachments/${index}`, {
        headers: { 'x-api-key': s.key },
      });
      expect([
        answer.status,
        answer.headers.get('content-type'),
        answer.headers.get('content-disposition'),
        answer.headers.get('x-content-type-options'),
      ]).toEqual([200, mediaType, 'attachment', 'nosniff']);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    }
});

test('lists and exports show sizes, and [] for a message without attachments', async () => {
  const b = await newBench(s);
  await b.work('Hi.');
  await send(b, FILES.slice(1, 3));
  const sizes = (messages: { attachments: unknown[] }[]) => messages.map((m) => m.attachments);
  const expected = [
    [],
    [],
    [
      { index: 0, mediaType: 'text/html', byteSize: 25 },
      { index: 1, mediaType: 'text/plain', byteSize: 5_000 },
    ],
  ];
  expect(sizes(await b.list('messages')).slice(0, 3)).toEqual(expected);
  const { export: exported } = await ok(s.call('GET', `/api/threads/${b.threadId}/export`));
  expect(sizes(exported.messages).slice(0, 3)).toEqual(expected);
  const { message } = await ok(s.call('POST', `${b.app}/threads`, { message: { content: 'Hi.' } }));
  expect(message.attachments).toEqual([]);
});

test('404 for an unknown message, one of another thread, and a place that is none', async () => {
  const [b, other] = [await newBench(s), await newBench(s)];
  const { id } = await send(b);
  const plain = (await b.send('Hi.')).message;
  const at = (bench: Bench, messageId: string, index: string) =>
    refusal(s.call('GET', `${bench.at}/messages/${messageId}/attachments/${index}`));
  for (const index of ['4', '-1', 'x', '1.0', '00', '99999999999999999999'])
    expect(await at(b, id, index)).toBe('404 attachment_not_found');
  expect(await at(b, plain.id, '0')).toBe('404 attachment_not_found');
  expect(await at(other, id, '0')).toBe('404 attachment_not_found');
  expect(await at(b, 'msg_x', '0')).toBe('404 attachment_not_found');
});
