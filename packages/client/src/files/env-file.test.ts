import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { parseEnvFile } from './env-file.ts';

const PIECES = ['A', 'B_1', '=', ' ', '\t', '\n', '\r\n', '#', '"', "'", '`', String.raw`\n`, 'x y', 'é'];
/** The same numbers in each run. */
function dice(seed: number): () => number {
  let at = seed;
  return () => (at = (at * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

test('reads what Node reads', () => {
  const next = dice(7);
  const sorted = (entries: Iterable<[string, string | undefined]>) =>
    [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  let read = 0;
  for (let i = 0; i < 20_000; i++) {
    const length = Math.floor(next() * 20);
    const text = Array.from({ length }, () => PIECES[Math.floor(next() * PIECES.length)]).join('');
    // Of a line without a name, Node reads the rest as a line.
    if (/(^|[\n"'`=])\s*=/.test(text)) continue;
    const ours = parseEnvFile(text);
    expect(sorted(ours), JSON.stringify(text)).toEqual(sorted(Object.entries(parseEnv(text))));
    read += ours.size;
  }
  expect(read).toBeGreaterThan(2_000);
});

test('quotes, comments, exports and values of several lines', () => {
  const text = [
    '# a comment',
    'PLAIN = a b # not this',
    'export EXPORTED="one\\ntwo"',
    "SINGLE='one\\ntwo # kept'",
    'KEY="-----BEGIN',
    'END-----"',
    'no name here',
    '=no name',
    'export EMPTY=',
    'PLAIN=again',
  ].join('\r\n');
  expect([...parseEnvFile(text)]).toEqual([
    ['PLAIN', 'again'],
    ['EXPORTED', 'one\ntwo'],
    ['SINGLE', String.raw`one\ntwo # kept`],
    ['KEY', '-----BEGIN\nEND-----'],
    ['EMPTY', ''],
  ]);
});
