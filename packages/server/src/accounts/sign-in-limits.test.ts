import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiError } from '../http/errors.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { attempt } from './sign-in-limits.ts';

let one: TestServer;
let two: TestServer;
beforeAll(async () => {
  one = await startTestServer({ HEADRACE_ROLES: 'api' });
  two = await startTestServer({ HEADRACE_ROLES: 'api' }, one);
});
afterAll(async () => {
  await two?.close();
  await one?.close();
});

const told = async (i: number, email: string, address: string, isRight: boolean) => {
  try {
    return await attempt((i % 2 ? one : two).service.ctx, email, address, async () => isRight);
  } catch (error) {
    return (error as ApiError).code;
  }
};

test('50 wrong passwords of an account, over all processes, close it, in whatever case and from wherever', async () => {
  for (let i = 0; i < 100; i++) expect(await told(i, 'kim@example.test', `10.0.0.${i}`, true)).toBe(true);
  for (let i = 0; i < 50; i++)
    expect(await told(i, i % 3 ? 'kim@example.test' : 'KIM@Example.test', `10.0.1.${i}`, false)).toBe(false);
  for (const i of [0, 1]) expect(await told(i, 'kim@example.test', '10.0.2.1', true)).toBe('rate_limited');
  expect(await told(0, 'lee@example.test', '10.0.2.1', true)).toBe(true);
});

test('200 wrong passwords from an address close it, for whichever account', async () => {
  for (let i = 0; i < 200; i++)
    expect(await told(i, `user-${i}@example.test`, '10.1.0.1', false)).toBe(false);
  for (const i of [0, 1]) expect(await told(i, 'noor@example.test', '10.1.0.1', true)).toBe('rate_limited');
  expect(await told(0, 'noor@example.test', '10.1.0.2', true)).toBe(true);
});

test('guesses that are under way count: many at once are no way around', async () => {
  const guesses = await Promise.all(
    Array.from({ length: 120 }, (_, i) => told(i, 'ana@example.test', `10.2.0.${i}`, false)),
  );
  expect(guesses.filter((guess) => guess === false)).toHaveLength(50);
  expect(guesses.filter((guess) => guess === 'rate_limited')).toHaveLength(70);
});

test('a password that could not be looked at is no guess', async () => {
  for (let i = 0; i < 60; i++)
    await expect(
      attempt(one.service.ctx, 'eve@example.test', '10.3.0.1', () => Promise.reject(new Error('away'))),
    ).rejects.toThrow('away');
  expect(await told(0, 'eve@example.test', '10.3.0.1', true)).toBe(true);
});

test('the windows hold no address of a person in clear', async () => {
  const windows = (await one.service.ctx.db
    .selectFrom('rate_windows' as never)
    .select('bucket' as never)
    .execute()) as { bucket: string }[];
  expect(windows.some(({ bucket }) => bucket.startsWith('sign-in-account '))).toBe(true);
  expect(windows.filter(({ bucket }) => bucket.includes('@'))).toEqual([]);
});
