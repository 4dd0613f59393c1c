import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

test('the hash is the one of the service', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => sha256(text) === hash(text)),
  );
  expect(sha256('x'.repeat(100_000))).toBe(hash('x'.repeat(100_000)));
});
