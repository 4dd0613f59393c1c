import { expect, test } from 'vitest';
import { readTar } from './tar-reader.ts';
import { tarFixture } from './tar.fixture.ts';

const TAR = tarFixture([
  { path: 'a', content: 'a' },
  { path: 'b', content: 'b' },
]);

test('a reader that stops early ends the source of the chunks', async () => {
  let isEnded = false;
  async function* chunks() {
    try {
      for (let at = 0; at < TAR.length; at += 100) yield TAR.subarray(at, at + 100);
    } finally {
      isEnded = true;
    }
  }
  for await (const _ of readTar(chunks())) break;
  expect(isEnded).toBe(true);
});

test('contents that nobody reads are skipped', async () => {
  const paths: (string | null)[] = [];
  for await (const entry of readTar([TAR.subarray(0, 700), TAR.subarray(700)])) paths.push(entry.path);
  expect(paths).toEqual(['a', 'b']);
});
