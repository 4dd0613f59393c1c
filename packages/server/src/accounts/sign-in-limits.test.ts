import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiError } from '../http/errors.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { accountOf, attempt, delayAfter } from './sign-in-limits.ts';

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

/** As if the network had made its last attempt that long ago. */
const wait = (network: string, seconds: number) =>
  one.service.ctx.db
    .updateTable('sign_in_networks')
    .set({ attempted_at: sql<Date>`attempted_at - ${seconds} * interval '1 second'` })
    .where('network', '=', network)
    .execute();

/** Wrong passwords from networks of their own: `10.<net>.0.0`, … Resolves to the number that were looked at. */
async function attack(email: string, net: number, count: number): Promise<number> {
  const guesses = await Promise.all(
    Array.from({ length: count }, (_, i) => told(i, email, `10.${net}.0.${i}`, false)),
  );
  expect(new Set(guesses).difference(new Set([false, 'rate_limited']))).toEqual(new Set());
  return guesses.filter((guess) => guess === false).length;
}

test('the delay begins after 20 failures, doubles with each, and ends at five minutes', () => {
  expect([0, 19, 20, 21, 25, 28, 29, 1_000].map(delayAfter)).toEqual([0, 0, 1, 2, 32, 256, 300, 300]);
});

test('guesses from everywhere, at once, over all processes and in any case of letters: 20 are looked at, the others have to wait', async () => {
  expect(await attack('ana@example.test', 1, 60)).toBe(20);
  expect(await told(0, 'ANA@example.test', '10.1.1.1', true)).toBe('rate_limited');
  expect(await told(0, 'lee@example.test', '10.1.1.1', true)).toBe(true);
});

test('an account under attack is open to the right password: at once where it came from before, elsewhere after the delay', async () => {
  expect(await told(0, 'kim@example.test', '10.2.1.1', true)).toBe(true);
  expect(await attack('kim@example.test', 2, 30)).toBe(20);
  for (const i of [0, 1]) expect(await told(i, 'kim@example.test', '10.2.1.1', true)).toBe(true);
  expect(await told(0, 'kim@example.test', '10.2.1.2', true)).toBe('rate_limited');
  // The attack goes on: each of its networks waited for its turn.
  for (const i of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) {
    await wait(`10.2.0.${i}`, 300);
    expect(await told(i, 'kim@example.test', `10.2.0.${i}`, false)).toBe(false);
    expect(await told(i, 'kim@example.test', `10.2.0.${i}`, false)).toBe('rate_limited');
  }
  await wait('10.2.1.2', 299);
  expect(await told(0, 'kim@example.test', '10.2.1.2', true)).toBe('rate_limited');
  await wait('10.2.1.2', 1);
  expect(await told(0, 'kim@example.test', '10.2.1.2', true)).toBe(true);
  expect(await told(0, 'kim@example.test', '10.2.1.2', true)).toBe(true);
});

test('failures are forgotten after an hour without one, and their rows do not stay', async () => {
  expect(await attack('noa@example.test', 3, 25)).toBe(20);
  const account = accountOf('noa@example.test');
  const { db } = one.service.ctx;
  const past = sql<Date>`now() - interval '1 second'`;
  await db.updateTable('sign_in_failures').set({ expires_at: past }).where('account', '=', account).execute();
  await db.updateTable('sign_in_networks').set({ expires_at: past }).where('account', '=', account).execute();
  expect(await told(0, 'noa@example.test', '10.3.1.1', false)).toBe(false);
  for (const i of [0, 1]) await told(i, `any-${i}@example.test`, '10.3.1.1', false);
  const rows = await db
    .selectFrom('sign_in_networks')
    .select('network')
    .where('account', '=', account)
    .execute();
  expect(rows).toEqual([{ network: '10.3.1.1' }]);
});

test('200 wrong passwords from a network close it, for whichever account; one IPv6 customer is one network', async () => {
  for (let i = 0; i < 200; i++)
    expect(await told(i, `user-${i}@example.test`, `2001:db8:1:2::${i}`, false)).toBe(false);
  for (const i of [0, 1])
    expect(await told(i, 'noor@example.test', '2001:db8:1:2:3::', true)).toBe('rate_limited');
  expect(await told(0, 'noor@example.test', '2001:db8:1:3::1', true)).toBe(true);
});

test('a password that could not be looked at is no guess', async () => {
  for (let i = 0; i < 60; i++)
    await expect(
      attempt(one.service.ctx, 'eve@example.test', '10.3.0.1', () => Promise.reject(new Error('away'))),
    ).rejects.toThrow('away');
  expect(await told(0, 'eve@example.test', '10.3.0.1', true)).toBe(true);
});

test('an attempt whose transaction began before another one of its network does not wait', async () => {
  expect(await told(0, 'eve@example.test', '10.5.0.1', false)).toBe(false);
  await wait('10.5.0.1', -60);
  expect(await told(0, 'eve@example.test', '10.5.0.1', true)).toBe(true);
});

test('what is kept names no e-mail address', async () => {
  await told(0, 'uma@example.test', '10.4.0.1', false);
  const { db } = one.service.ctx;
  const rows = [
    ...(await db.selectFrom('sign_in_failures').selectAll().execute()),
    ...(await db.selectFrom('sign_in_networks').selectAll().execute()),
  ];
  expect(rows.some(({ account }) => account.equals(accountOf('uma@example.test')))).toBe(true);
  expect(JSON.stringify(rows)).not.toContain('@');
  expect(rows.map(({ account }) => account.toString('latin1')).join()).not.toContain('@example');
});
