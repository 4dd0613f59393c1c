import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Bus } from '../bus.ts';
import { PUBLISHER_LOCK } from '../db/advisory-locks.ts';
import { openDatabase } from '../db/database.ts';
import type { DatabaseHandle } from '../db/database.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import type { TestDatabase } from '../db/database.fixture.ts';
import { firstStart } from './first-start.ts';
import { hashKey, isServiceKey, makeServiceKey } from './keys.ts';
import { verifyPassword } from './passwords.ts';
import { PERMISSIONS } from './permissions.ts';

const opened: { database: TestDatabase; handle: DatabaseHandle }[] = [];
let handle: DatabaseHandle;

beforeEach(async () => {
  const database = await createTestDatabase();
  handle = openDatabase(database.connection);
  opened.push({ database, handle });
});
afterAll(async () => {
  for (const { database, handle } of opened) {
    await handle.close();
    await database.drop();
  }
});

const start = (config: { ownerEmail?: string; ownerPassword?: string; bootstrapKey?: string } = {}) =>
  firstStart({
    db: handle.db,
    bus: { notify() {} } as unknown as Bus,
    config: { ownerEmail: null, ownerPassword: null, bootstrapKey: null, ...config },
  });

test('an empty database gets one organization, its owner, and one account with every permission', async () => {
  const key = makeServiceKey();
  expect(
    await start({ ownerEmail: 'kim@example.test', ownerPassword: 'given password', bootstrapKey: key }),
  ).toEqual([]);
  const [organization] = await handle.db.selectFrom('organizations').selectAll().execute();
  const [user] = await handle.db.selectFrom('users').selectAll().execute();
  const [account] = await handle.db.selectFrom('service_accounts').selectAll().execute();
  const [credential] = await handle.db.selectFrom('credentials').selectAll().execute();
  expect(await handle.db.selectFrom('members').select(['org_id', 'user_id', 'role']).execute()).toEqual([
    { org_id: organization!.id, user_id: user!.id, role: 'owner' },
  ]);
  expect(user!.email).toBe('kim@example.test');
  expect(await verifyPassword('given password', user!.password_hash)).toBe(true);
  expect(account).toMatchObject({
    org_id: organization!.id,
    permissions: PERMISSIONS,
    project_ids: null,
    disabled: false,
    saved_by: null,
  });
  expect(credential!.id).toBe(`cred_${key.slice(4, 30)}`);
  expect(credential!.secret_hash.equals(hashKey(key))).toBe(true);
});

test('what is not given is generated and told once', async () => {
  const lines = await start();
  expect(lines).toHaveLength(3);
  const key = lines[2]!.split(' ').at(-1)!;
  expect(isServiceKey(key)).toBe(true);
  const user = await handle.db.selectFrom('users').selectAll().executeTakeFirstOrThrow();
  expect(await verifyPassword(lines[1]!.split(' ').at(-1)!, user.password_hash)).toBe(true);
  expect(await start()).toEqual([]);
  expect(await start({ bootstrapKey: makeServiceKey(), ownerEmail: 'other@example.test' })).toEqual([]);
  expect(await handle.db.selectFrom('users').select('email').execute()).toEqual([{ email: user.email }]);
  expect(await handle.db.selectFrom('credentials').select('id').execute()).toHaveLength(1);
});

test('of several processes that start at once one fills the database and tells', async () => {
  const told = await Promise.all(Array.from({ length: 5 }, () => start()));
  expect(told.filter((lines) => lines.length > 0)).toHaveLength(1);
  expect(await handle.db.selectFrom('organizations').select('id').execute()).toHaveLength(1);
  expect(await handle.db.selectFrom('service_accounts').select('id').execute()).toHaveLength(1);
});

test('a process that was first and publishes already does not stop the ones that start beside it', async () => {
  const publisher = await handle.pool.connect();
  try {
    await publisher.query('select pg_advisory_lock($1)', [PUBLISHER_LOCK]);
    expect(await start()).toHaveLength(3);
  } finally {
    publisher.release(true);
  }
});
