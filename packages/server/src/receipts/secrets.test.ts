/** Secrets that a write answers with: what its replays, its receipt and the database keep of them. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accept, invited, newAccount, signedIn } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

let s: TestServer;
let cookie: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  cookie = await signedIn(s);
});
afterAll(async () => {
  await s?.close();
});

const receiptOf = (answer: TestAnswer) => answer.headers.get('x-operation-id')!;
/** Every row of `operations`, as PostgreSQL prints it. */
const rows = async () =>
  (
    await sql<{
      row: string;
    }>`select o::text || encode(fingerprint, 'escape') || coalesce(encode(response_sealed, 'escape'), '') as row from operations o`.execute(
      s.service.ctx.db,
    )
  ).rows
    .map((r) => r.row)
    .join('\n');

test('keys of created and rotated accounts are answered once, and kept nowhere', async () => {
  const { account } = await newAccount(s, cookie);
  const created = { path: '/api/service-accounts', body: { name: 'n', permissions: {} } };
  const rotated = { path: `/api/service-accounts/${account.id}/credentials`, body: {} };
  for (const { path, body } of [created, rotated]) {
    const idem = randomUUID();
    const [first, again, oncemore] = [
      await s.call('POST', path, body, { cookie, idem }),
      await s.call('POST', path, body, { cookie, idem }),
      await s.call('POST', path, body, { cookie, idem }),
    ];
    const { key, ...rest } = first.body;
    expect([first.status, first.body.secretUnavailable, key]).toEqual([
      201,
      false,
      expect.stringMatching(/^hrk_/),
    ]);
    expect([again.status, again.body, again.headers.get('idempotent-replayed'), oncemore.text]).toEqual([
      201,
      { ...rest, secretUnavailable: true },
      'true',
      again.text,
    ]);
    expect(
      (await s.call('GET', `/api/operations/${receiptOf(first)}`, undefined, { cookie })).body.operation
        .response,
    ).toEqual(again.body);
    expect(await rows()).not.toContain(key.slice(4, 60));
  }
});

test("an invitation's address is replayed as it was, sealed at rest, and shown by no receipt", async () => {
  const idem = randomUUID();
  const send = () =>
    s.call('POST', '/api/members', { email: `${idem}@example.test`, role: 'owner' }, { cookie, idem });
  const [first, again] = [await send(), await send()];
  expect([first.status, again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
    201,
    201,
    first.text,
    'true',
  ]);
  const token = new URL(first.body.invitation.url).pathname.split('/').at(-1)!;
  expect(await rows()).not.toContain(token);
  // An admin, who may not make an owner, reads the receipt of one who may.
  const admin = await invited(s, cookie, 'admin');
  const read = await s.call('GET', `/api/operations/${receiptOf(first)}`, undefined, {
    cookie: admin.cookie,
  });
  expect([read.status, read.text.includes(token), read.body.operation.response.invitation]).toEqual([
    200,
    false,
    { ...first.body.invitation, url: null },
  ]);
  expect((await accept(s, token, { name: 'Kim', password: 'a long password' })).status).toBe(200);
  expect((await send()).text).toBe(first.text);
});

test('what was sealed for one receipt opens no other', async () => {
  const send = (idem: string) =>
    s.call('POST', '/api/members', { email: `${idem}@example.test`, role: 'member' }, { cookie, idem });
  const [one, other] = [randomUUID(), randomUUID()];
  const [first] = [await send(one), await send(other)];
  await sql`update operations set response_sealed = (select response_sealed from operations where id = ${receiptOf(first)}) where idempotency_key = ${other}`.execute(
    s.service.ctx.db,
  );
  expect([(await send(other)).status, (await send(one)).text]).toEqual([500, first.text]);
});
