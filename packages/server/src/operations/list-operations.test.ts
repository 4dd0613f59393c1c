import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { expectStatus, invited, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { refusal } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const P = '/api/platform/v1';
type As = { key?: string | null; cookie?: string };
const list = (idempotencyKey: string, as: As, more: Record<string, string> = {}) =>
  s.call(
    'GET',
    `/api/operations?${new URLSearchParams({ idempotencyKey, ...more }).toString()}`,
    undefined,
    as,
  );
const found = async (key: string, as: As, more?: Record<string, string>): Promise<string[]> =>
  expectStatus(await list(key, as, more), 200).body.operations.map((one: { id: string }) => one.id);
const operationOf = (answer: { headers: Headers }) => answer.headers.get('x-operation-id')!;

async function newCaller(fields: Record<string, unknown> = {}) {
  const { cookie } = await tenant(s);
  return { cookie, key: (await newAccount(s, cookie, fields)).key as string };
}

describe('200', () => {
  test('a write is found by its key, as its own read shows it; a refused one with its answer', async () => {
    const { key } = await newCaller();
    const idem = `key ${randomUUID()}`.replace(' ', '+');
    const made = await s.call('POST', `${P}/apps`, { name: 'x', externalId: idem }, { key, idem });
    const { operations } = expectStatus(await list(idem, { key }), 200).body;
    const own = await s.call('GET', `/api/operations/${operationOf(made)}`, undefined, { key });
    expect(operations).toEqual([own.body.operation]);
    const taken = randomUUID();
    await s.call('POST', `${P}/apps`, { name: 'x', externalId: idem }, { key, idem: taken });
    expect(expectStatus(await list(taken, { key }), 200).body.operations).toMatchObject([
      { idempotencyKey: taken, status: 'failed', responseStatus: 409 },
    ]);
    expect(await found(randomUUID(), { key })).toEqual([]);
  });

  test("one key of several actors: newest first, by pages, and no other organization's", async () => {
    const { cookie, key } = await newCaller();
    const idem = randomUUID();
    const keys = [key, ...(await Promise.all([1, 2, 3].map(async () => (await newAccount(s, cookie)).key)))];
    const made: string[] = [];
    for (const each of keys)
      made.unshift(operationOf(await s.call('POST', `${P}/apps`, { name: 'x' }, { key: each, idem })));
    await s.call('POST', `${P}/apps`, { name: 'x' }, { key: (await newCaller()).key, idem });
    expect(await found(idem, { key })).toEqual(made);
    const first = expectStatus(await list(idem, { key }, { limit: '3' }), 200).body;
    expect([first.operations.length, first.hasMore]).toEqual([3, true]);
    expect(await found(idem, { key }, { limit: '3', cursor: first.nextCursor })).toEqual(made.slice(3));
    expect(await refusal(list(`${idem}x`, { key }, { cursor: first.nextCursor }))).toBe('400 invalid_cursor');
  });

  test('those that the caller may not inspect are left out, and pages are full without them', async () => {
    const { cookie, key } = await newCaller();
    const idem = randomUUID();
    const { app } = (await s.call('POST', `${P}/apps`, { name: 'x' }, { key })).body;
    const actors = await Promise.all([1, 2, 3, 4].map(async () => (await newAccount(s, cookie)).key));
    const patched: string[] = [];
    for (const [i, actor] of actors.entries()) {
      const write =
        i % 2 === 0
          ? s.call('PATCH', `${P}/apps/${app.id}`, { name: `${i}` }, { key: actor, idem })
          : s.call('POST', `${P}/apps`, { name: 'x' }, { key: actor, idem });
      if (i % 2 === 0) patched.unshift(operationOf(await write));
      else await write;
    }
    const may = async (fields: Record<string, unknown>) => ({
      key: (await newAccount(s, cookie, fields)).key,
    });
    const updater = await may({ permissions: { project: ['update'] } });
    expect(await found(idem, updater)).toEqual(patched);
    const page = expectStatus(await list(idem, updater, { limit: '1' }), 200).body;
    expect([page.operations.length, page.hasMore]).toEqual([1, true]);
    expect(await found(idem, updater, { limit: '1', cursor: page.nextCursor })).toEqual(patched.slice(1));
    expect(await found(idem, await may({ permissions: { thread: ['read'] } }))).toEqual([]);
    expect(await found(idem, await may({ projectIds: [app.id] }))).toEqual(patched);
    expect(await found(idem, await may({ projectIds: [newId('prj')] }))).toEqual([]);
  });

  test('many that the caller may not inspect cost few statements, however short the page is', async () => {
    const { cookie, key } = await newCaller();
    const idem = randomUUID();
    const own = operationOf(await s.call('POST', `${P}/apps`, { name: 'x' }, { key, idem }));
    await sql`insert into operations (org_id, id, actor_id, idempotency_key, fingerprint, method, path, permissions, published, status)
      select org_id, 'op_z' || lpad(n::text, 25, '0'), 'sa_' || n, idempotency_key, fingerprint, method, path, '{scm:connect}', false, 'succeeded'
      from operations cross join generate_series(1, 150) n where id = ${own}`.execute(s.service.ctx.db);
    const creator = (await newAccount(s, cookie, { permissions: { project: ['create'] } })).key;
    const query = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => query.mockRestore());
    expect(await found(idem, { key: creator }, { limit: '1' })).toEqual([own]);
    const statements = query.mock.calls.filter((call) => JSON.stringify(call).includes(idem));
    expect(statements.length).toBe(2);
  });

  test("a session's own writes are for its user, owners and admins", async () => {
    const { cookie, key } = await newCaller();
    const admin = await invited(s, cookie, 'admin');
    const member = await invited(s, cookie, 'member');
    const idem = randomUUID();
    const made = operationOf(
      await s.call(
        'POST',
        '/api/service-accounts',
        { name: 'n', permissions: {} },
        { cookie: admin.cookie, idem },
      ),
    );
    expect(await found(idem, { cookie })).toEqual([made]);
    expect(await found(idem, { cookie: admin.cookie })).toEqual([made]);
    expect(await found(idem, { cookie: member.cookie })).toEqual([]);
    expect(await found(idem, { key })).toEqual([]);
  });
});

test.each(['', '?idempotencyKey=', `?idempotencyKey=${'k'.repeat(129)}`, '?idempotencyKey=%00'])(
  '400: %s',
  async (query) => {
    expect(await refusal(s.call('GET', `/api/operations${query}`))).toBe(
      '400 invalid_request /query/idempotencyKey',
    );
  },
);
