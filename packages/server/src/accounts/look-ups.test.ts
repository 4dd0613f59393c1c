import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newAccount, signedIn } from './callers.fixture.ts';
import { createAuthenticator } from './authenticate.ts';
import { makeServiceKey } from './keys.ts';

let s: TestServer;
let owner: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  owner = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

const ask = (headers: Record<string, string>, address: string) =>
  createAuthenticator(s.service.ctx).authenticate(headers, address);

/** How many statements look for callers meanwhile. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const queries = vi.spyOn(s.service.ctx.db, 'selectFrom');
  await work();
  const count = queries.mock.calls.filter(([from]) =>
    ['credentials as c', 'sessions as s'].includes(from as string),
  );
  queries.mockRestore();
  return count.length;
}

/** Sends each of `count` requests, 40 at a time. */
async function flood(count: number, send: (i: number) => Promise<unknown>): Promise<void> {
  let sent = 0;
  const lane = async () => {
    while (sent < count) await send(sent++);
  };
  await Promise.all(Array.from({ length: 40 }, lane));
}

describe('made-up credentials of one address', () => {
  test('share statements, keys and sessions alike', async () => {
    const address = '203.0.113.1';
    const statements = await statementsOf(() =>
      flood(1_000, async (i) => {
        const known = await ask(
          i % 2
            ? { 'x-api-key': makeServiceKey() }
            : { cookie: `headrace_session=${makeServiceKey().slice(-43)}` },
          address,
        );
        expect(known).toMatchObject({ bucket: `address ${address}`, refusal: { status: 401 } });
      }),
    );
    expect(statements).toBeLessThan(120);
  });

  test('hide nobody: a key that is used for the first time is found among them, and elsewhere at once', async () => {
    const address = '203.0.113.2';
    const [first, second] = [await newAccount(s, owner), await newAccount(s, owner)];
    let isOver = false;
    const attack = flood(400, () => ask({ 'x-api-key': makeServiceKey() }, address)).finally(() => {
      isOver = true;
    });
    expect((await ask({ 'x-api-key': first.key }, address)).principal?.accountId).toBe(first.account.id);
    expect((await ask({ 'x-api-key': second.key }, '203.0.113.3')).principal?.accountId).toBe(
      second.account.id,
    );
    expect(isOver).toBe(false);
    await attack;
  });
});

test('an IPv6 /64 network is one caller, whichever of its addresses it uses', async () => {
  const statements = await statementsOf(() =>
    flood(200, async (i) => {
      const known = await ask({ 'x-api-key': makeServiceKey() }, `2001:db8:1:2::${i}`);
      expect(known.bucket).toBe('address 2001:db8:1:2::/64');
    }),
  );
  expect(statements).toBeLessThan(60);
});

test('callers that are found are looked up as they come, however many there are', async () => {
  const accounts = await Promise.all(Array.from({ length: 15 }, () => newAccount(s, owner)));
  const from = performance.now();
  const statements = await statementsOf(async () => {
    for (const { key } of accounts)
      expect((await ask({ 'x-api-key': key }, '203.0.113.4')).principal).toBeDefined();
  });
  expect(statements).toBe(15);
  expect(performance.now() - from).toBeLessThan(5_000);
});
