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

/** A repository with this log, which counts its reads, in total and at the same time. */
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

test('the ends of logs are read, a few at a time, until a message is full', async () => {
  const { repository, seen } = reading('x'.repeat(8_196));
  const found = await withLogs(repository, checks(300));
  expect(seen).toEqual({ all: 32, now: 0, most: 4, maxBytes: 8_196 });
  expect(found.map(({ name }) => name)).toEqual(checks(300).map(({ name }) => name));
  expect(found.filter(({ isLogUnread }) => isLogUnread)).toHaveLength(300 - 32);
});

test('at most a hundred short logs are read', async () => {
  const { repository, seen } = reading('short');
  await withLogs(repository, checks(300));
  expect(seen.all).toBe(100);
});

test('a check without a readable log is kept; a check without a log causes no call', async () => {
  const gone = reading(null);
  expect(await withLogs(gone.repository, checks(1))).toMatchObject([{ log: null, isLogUnread: true }]);
  const none = reading('never');
  expect(await withLogs(none.repository, checks(1, null))).toMatchObject([{ log: null, isLogUnread: false }]);
  expect(none.seen.all).toBe(0);
});

test('an unavailable provider is a fault', async () => {
  const { repository } = reading(new ProviderError({ code: 'unavailable' }, '502'));
  await expect(withLogs(repository, checks(5))).rejects.toBeInstanceOf(ProviderError);
});
