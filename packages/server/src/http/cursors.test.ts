import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openCursor, sealCursor } from './cursors.ts';

const secret = randomBytes(32);

/** As version 0.1.0 signed: with the secret itself. */
function signedBefore(text: string): string {
  const mac = createHmac('sha256', secret).update(text).digest().subarray(0, 12);
  return Buffer.concat([mac, Buffer.from(text)]).toString('base64url');
}

test('a cursor opens, also one of before each purpose had a key of its own', () => {
  expect(openCursor(secret, sealCursor(secret, ['a', 1]))).toEqual(['a', 1]);
  expect(openCursor(secret, signedBefore('["a",1]'))).toEqual(['a', 1]);
  expect(sealCursor(secret, ['a', 1])).not.toBe(signedBefore('["a",1]'));
});

test('what the secret signed for another purpose is no cursor', () => {
  expect(() => openCursor(secret, signedBefore('headrace run token run_1'))).toThrow(
    expect.objectContaining({ code: 'invalid_cursor' }),
  );
});
