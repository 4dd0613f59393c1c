import { expect, test, vi } from 'vitest';
import type { Bus } from '../bus.ts';
import type { Db } from '../db/database.ts';
import { accessCache } from './access.ts';
import { loadKeys, loadSessions } from './load-access.ts';
import type { Loaded } from './load-access.ts';

vi.mock('./load-access.ts', () => ({ loadKeys: vi.fn(), loadSessions: vi.fn() }));

const NAME = 'key cred_1';
const loaded = (fields: Partial<Loaded> = {}): Loaded => ({
  verdict: 'admitted',
  principal: null,
  secretHash: null,
  orgId: 'org_1',
  userId: null,
  endsInMs: 60_000,
  ...fields,
});

/** A cache whose look-ups end when the test says so. */
function setUp() {
  const listeners: ((payload: string) => void)[] = [];
  const bus = {
    listen: (_: string, listener: (payload: string) => void) => {
      listeners.push(listener);
      return () => {};
    },
    onReconnect: () => {},
  } as unknown as Bus;
  const loads: ((value: Loaded | null) => void)[] = [];
  vi.mocked(loadKeys)
    .mockReset()
    .mockImplementation(
      () =>
        new Promise((resolve) => {
          loads.push((value) => resolve(new Map(value && [['cred_1', value]])));
        }),
    );
  return {
    cache: accessCache({ db: {} as Db, bus }),
    loads,
    notify: (payload: string) => {
      for (const listener of listeners) listener(payload);
    },
  };
}

test('many requests at once look up once, and the next ones not at all', async () => {
  const { cache, loads } = setUp();
  const asked = [cache.lookUp(NAME), cache.lookUp(NAME), cache.lookUp(NAME)];
  expect(loads).toHaveLength(1);
  loads[0]!(loaded());
  expect(new Set(await Promise.all(asked)).size).toBe(1);
  expect(await cache.lookUp(NAME)).toMatchObject({ verdict: 'admitted' });
  expect(loads).toHaveLength(1);
});

test('a session is looked up for each request: another process may have switched its organization', async () => {
  const { cache } = setUp();
  const name = `session ${'ab'.repeat(32)}` as const;
  const orgs = ['org_1', 'org_2'];
  vi.mocked(loadSessions)
    .mockReset()
    .mockImplementation(() => {
      const orgId = orgs.shift()!;
      return Promise.resolve(new Map([['ab'.repeat(32), loaded({ orgId })]]));
    });
  const found = [await cache.lookUp(name), await cache.lookUp(name)];
  expect(found.map((one) => one!.orgId)).toEqual(['org_1', 'org_2']);
});

test('a look-up that began before a change is neither kept nor shared with those who ask after it', async () => {
  const { cache, loads, notify } = setUp();
  const before = cache.lookUp(NAME);
  notify('org_1');
  const after = cache.lookUp(NAME);
  loads[1]!(loaded({ verdict: 'unknown' }));
  expect((await after)!.verdict).toBe('unknown');
  loads[0]!(loaded());
  expect((await before)!.verdict).toBe('admitted');
  expect((await cache.lookUp(NAME))!.verdict).toBe('unknown');
});

test('a change drops what it concerns and nothing else', async () => {
  const { cache, loads, notify } = setUp();
  const first = cache.lookUp(NAME);
  loads[0]!(loaded({ userId: 'usr_1' }));
  await first;
  notify('org_2');
  notify('usr_2');
  await cache.lookUp(NAME);
  expect(loads).toHaveLength(1);
  for (const [i, payload] of ['org_1', 'usr_1', ''].entries()) {
    notify(payload);
    const again = cache.lookUp(NAME);
    expect(loads).toHaveLength(i + 2);
    loads[i + 1]!(loaded({ userId: 'usr_1' }));
    await again;
  }
});

test('an entry ends with its credential, and what does not exist is not kept', async () => {
  const { cache, loads } = setUp();
  for (const [i, value] of [loaded({ endsInMs: 0 }), null, loaded()].entries()) {
    const asked = cache.lookUp(NAME);
    loads[i]!(value);
    await asked;
  }
  expect(loads).toHaveLength(3);
});

test('a look-up that fails is not shared any further', async () => {
  const { cache, loads } = setUp();
  vi.mocked(loadKeys).mockRejectedValueOnce(new Error('the database is away'));
  await expect(cache.lookUp(NAME)).rejects.toThrow('away');
  const again = cache.lookUp(NAME);
  loads[0]!(loaded());
  expect((await again)!.verdict).toBe('admitted');
});
