import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from './passwords.ts';

test('a password fits its own hash only, and equal passwords have different hashes', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(two);
  expect(await verifyPassword('correct horse', one)).toBe(true);
  expect(await verifyPassword('correct horse ', one)).toBe(false);
  expect(await verifyPassword('', one)).toBe(false);
});

test('one password typed on two keyboards is one: composed and decomposed letters', async () => {
  expect(await verifyPassword('cafe\u0301 au lait', await hashPassword('caf\u00e9 au lait'))).toBe(true);
});

test('without a user the same work is done, and no password fits', async () => {
  const stored = await hashPassword('x');
  const timed = async (hash: string | undefined) => {
    const began = performance.now();
    expect(await verifyPassword('y', hash)).toBe(false);
    return performance.now() - began;
  };
  const [known, unknown] = [await timed(stored), await timed(undefined)];
  expect(unknown).toBeGreaterThan(known / 4);
});

test('many at once all end', async () => {
  const stored = await hashPassword('x');
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, i) => verifyPassword(i % 2 ? 'x' : 'y', stored)),
  );
  expect(results).toEqual(Array.from({ length: 12 }, (_, i) => i % 2 === 1));
});
