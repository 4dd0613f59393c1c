import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { FrameParser } from './frames.ts';
import type { Frame } from './frames.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const framesOf = (...chunks: Uint8Array[]): Frame[] => {
  const parser = new FrameParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
};
const parsed = (text: string) => framesOf(bytesOf(text));

const SAMPLE = [
  '\uFEFF: a comment\n\nid: 1\nevent: run.running\ndata: {"a":"grün 🏖️"}\n\n',
  'data:first\ndata: second\ndata\n\n',
  'event: dropped without data\n\nid\ndata:  two spaces\nretry: 10\nunknown: field\n\n',
  'id: 2\n\ndata:\n\n',
].join('');
const FRAMES = [
  { type: 'run.running', data: '{"a":"grün 🏖️"}', id: '1' },
  { type: 'message', data: 'first\nsecond\n', id: '1' },
  { type: 'message', data: ' two spaces', id: '' },
  { type: 'message', data: '', id: '2' },
];

test.each([
  ['LF', '\n'],
  ['CR', '\r'],
  ['CRLF', '\r\n'],
])('frames with lines that end in %s are the same however the bytes are cut', (_, end) => {
  const bytes = bytesOf(SAMPLE.replaceAll('\n', end));
  expect(framesOf(bytes)).toEqual(FRAMES);
  for (let first = 0; first <= bytes.length; first++) {
    const [head, tail] = [bytes.subarray(0, first), bytes.subarray(first)];
    expect(framesOf(head, tail)).toEqual(FRAMES);
    const middle = first + Math.floor(tail.length / 2);
    expect(framesOf(head, bytes.subarray(first, middle), bytes.subarray(middle))).toEqual(FRAMES);
  }
  expect(framesOf(...Array.from(bytes, (_byte, i) => bytes.subarray(i, i + 1)))).toEqual(FRAMES);
});

test('a frame is complete at its empty line, even if a CR ends the chunk', () => {
  const parser = new FrameParser();
  expect(parser.push(bytesOf('data: a\r\n\r'))).toEqual([{ type: 'message', data: 'a', id: '' }]);
  expect(parser.push(bytesOf('\ndata: b\n\n'))).toEqual([{ type: 'message', data: 'b', id: '' }]);
});

test('unfinished data at the end is not a frame', () => {
  expect(parsed('data: a\n\ndata: b\n')).toHaveLength(1);
  expect(parsed('data: a\n\ndata: b')).toHaveLength(1);
});

test('an id with a NUL is ignored, and only the first byte order mark is left out', () => {
  expect(parsed('id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n\uFEFFdata: c\n\n')).toEqual([
    { type: 'message', data: 'a', id: '1' },
    { type: 'message', data: 'b', id: '1' },
  ]);
});

test('generated streams have the frames that another parser of the standard finds in them', () => {
  let seed = 7;
  const below = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const parts = [
    'data',
    'id',
    'event',
    ':',
    ': ',
    ' ',
    '\n',
    '\n\n',
    '\r\n',
    '\r',
    'ä',
    'x',
    'data: y\n',
    '',
  ];
  for (let round = 0; round < 2_000; round++) {
    const text = Array.from({ length: below(30) }, () => parts[below(parts.length)]!).join('');
    const expected: Frame[] = [];
    let lastId = '';
    const other = createParser({
      onEvent: ({ event, data, id = lastId }) =>
        expected.push({ type: event || 'message', data, id: (lastId = id) }),
    });
    other.feed(text);
    const bytes = bytesOf(text);
    const cut = below(bytes.length + 1);
    const own = framesOf(bytes.subarray(0, cut), bytes.subarray(cut));
    expect(own.map(({ type, data }) => [type, data], text)).toEqual(
      expected.map(({ type, data }) => [type, data]),
    );
  }
});

test('a line of 10 MB takes time by its length, and more than that is refused', () => {
  const parser = new FrameParser();
  const part = bytesOf('x'.repeat(1_000));
  parser.push(bytesOf('data: '));
  for (let i = 0; i < 9_999; i++) expect(parser.push(part)).toEqual([]);
  const [frame] = parser.push(bytesOf('\n\n'));
  expect(frame!.data).toHaveLength(9_999_000);
  expect(() => {
    for (let i = 0; i <= 10_000; i++) parser.push(part);
  }).toThrow('a frame has more than 10000000 characters');
  const lines = new FrameParser();
  const line = bytesOf(`data: ${'x'.repeat(1_000)}\n`);
  expect(() => {
    for (let i = 0; i <= 10_000; i++) lines.push(line);
  }).toThrow('a frame has more than');
});

test('comments are not kept', () => {
  const parser = new FrameParser();
  const comment = bytesOf(`: ${'x'.repeat(100_000)}\n`);
  for (let i = 0; i < 200; i++) expect(parser.push(comment)).toEqual([]);
  expect(parser.push(bytesOf('data: a\n\n'))).toHaveLength(1);
});
