import { expect, test } from 'vitest';
import { ProviderError } from '../scm/index.ts';
import type { OpenRepository, ProviderCheck } from '../scm/index.ts';
import { withLogs } from './check-logs.ts';

const checks = (count: number, logId: string | null = 'log'): ProviderCheck[] =>
  Array.from({ length: count }, (_, n) => ({
    name: `check ${n}`,
    state: 'failing',
    url: null,
    summary: null,
    logId,
  }));

/** A repository whose logs are these, and how many of them were read, in all and at once. */
function reading(log: string | null | Error) {
  const seen = { all: 0, now: 0, most: 0, maxBytes: 0 };
  const checkLog = async (_at: unknown, _id: string, maxBytes: number) => {
    seen.all += 1;
    seen.maxBytes = maxBytes;
    seen.most = Math.max(seen.most, ++seen.now);
    await new Promise(setImmediate);
    seen.now -= 1;
    if (log instanceof Error) throw log;
    return log;
  };
  return { repository: { at: {}, provider: { checkLog } } as unknown as OpenRepository, seen };
}

test('logs are read from their end, a few at once, as long as a message has room for them', async () => {
  const { repository, seen } = reading('x'.repeat(8_196));
  const found = await withLogs(repository, checks(300));
  expect(seen).toEqual({ all: 32, now: 0, most: 4, maxBytes: 8_196 });
  expect(found.map(({ name }) => name)).toEqual(checks(300).map(({ name }) => name));
  expect(found.filter(({ isLogUnread }) => isLogUnread)).toHaveLength(300 - 32);
});

test('of short logs at most a hundred are read', async () => {
  const { repository, seen } = reading('short');
  await withLogs(repository, checks(300));
  expect(seen.all).toBe(100);
});

test('a log that cannot be read leaves the check as it is; without a log nothing is asked', async () => {
  const gone = reading(null);
  expect(await withLogs(gone.repository, checks(1))).toMatchObject([{ log: null, isLogUnread: true }]);
  const none = reading('never');
  expect(await withLogs(none.repository, checks(1, null))).toMatchObject([{ log: null, isLogUnread: false }]);
  expect(none.seen.all).toBe(0);
});

test('a provider that is away is a fault', async () => {
  const { repository } = reading(new ProviderError({ code: 'unavailable' }, '502'));
  await expect(withLogs(repository, checks(5))).rejects.toBeInstanceOf(ProviderError);
});
