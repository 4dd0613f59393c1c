import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { expectStatus, newAccount, signedIn, tenant } from './callers.fixture.ts';
import { LastUse } from './last-use.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const MINUTE = /:00\.000Z$/;

test('a key and a session that were used say so, to the minute; a refused key says nothing', async () => {
  const { cookie } = await tenant(s);
  const { account, credential, key } = await newAccount(s, cookie);
  expect(credential.lastUsedAt).toBeNull();
  const credentials = async () =>
    (await s.call('GET', `/api/service-accounts/${account.id}/credentials`, undefined, { cookie })).body
      .credentials;
  await s.call('GET', '/api/projects', undefined, { key: `${key.slice(0, -1)}x` });
  expectStatus(await s.call('GET', '/api/projects', undefined, { key }), 200);
  const began = Date.now();
  await expect.poll(async () => (await credentials())[0].lastUsedAt, { timeout: 20_000 }).toMatch(MINUTE);
  const lastUsedAt = Date.parse((await credentials())[0].lastUsedAt);
  expect(Math.abs(lastUsedAt - began)).toBeLessThan(60_000);
});

test('many uses are one write a minute for each key, all keys in one statement; times never go back', async () => {
  const { cookie } = await tenant(s);
  const { db, log } = s.service.ctx;
  const ids = await Promise.all(
    Array.from({ length: 3 }, async () => (await newAccount(s, cookie)).credential.id as string),
  );
  const rows = () =>
    db
      .selectFrom('credentials')
      .select(['id', 'last_used_at', (eb) => eb.ref('xmin' as never).as('version')])
      .where('id', 'in', ids)
      .orderBy('id')
      .execute();
  const [one, two] = [new LastUse({ db, log }), new LastUse({ db, log })];
  for (let i = 0; i < 1_000; i++) for (const id of ids) one.note(`key ${id}`);
  await one.flush();
  const written = await rows();
  expect(written.every((row) => MINUTE.test(row.last_used_at!.toISOString()))).toBe(true);
  expect(new Set(written.map((row) => row.version)).size).toBe(1);
  // Neither this process nor another one writes the same minute again.
  for (const recorder of [one, two]) {
    for (const id of ids) recorder.note(`key ${id}`);
    await recorder.flush();
  }
  const again = await rows();
  if (again[0]!.last_used_at!.getTime() === written[0]!.last_used_at!.getTime())
    expect(again).toEqual(written);
});

test('a session that goes on is seen later than it was opened', async () => {
  const cookie = await signedIn(s);
  const { db } = s.service.ctx;
  const before = (await s.call('GET', '/api/sessions', undefined, { cookie })).body.sessions[0];
  await db
    .updateTable('sessions')
    .set({ created_at: new Date(Date.now() - 600_000), last_seen_at: new Date(Date.now() - 600_000) })
    .where('id', '=', before.id)
    .execute();
  const { token_hash: hash } = await db
    .selectFrom('sessions')
    .select('token_hash')
    .where('id', '=', before.id)
    .executeTakeFirstOrThrow();
  const recorder = new LastUse(s.service.ctx);
  recorder.note(`session ${hash.toString('hex')}`);
  await recorder.flush();
  const [after] = (await s.call('GET', '/api/sessions', undefined, { cookie })).body.sessions;
  expect(after.lastSeenAt > after.createdAt).toBe(true);
});
