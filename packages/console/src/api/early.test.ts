import { afterEach, expect, test, vi } from 'vitest';

const AT = 'http://console.test/console/';
const DATE = 'Mon, 23 Nov 2026 20:00:00 GMT';
const EARLY = 'http://console.test/api/session';

/** The module, on a page that has these preloads; and what was fetched. */
async function load(...hrefs: string[]) {
  const fetched: string[] = [];
  vi.stubGlobal('location', { href: AT });
  vi.stubGlobal('document', { querySelectorAll: () => hrefs.map((href) => ({ href })) });
  vi.stubGlobal('fetch', async (input: string, init?: RequestInit) => {
    fetched.push(`${init?.method ?? 'GET'} ${input}`);
    return Response.json({ answer: fetched.length }, { headers: { date: DATE, 'x-request-id': 'req_1' } });
  });
  vi.resetModules();
  const { earlyFetch } = await import('./early.ts');
  const read = async (input: string, init?: RequestInit) => (await earlyFetch(input, init)).json();
  return { fetched, earlyFetch, read };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('the first call gets the answer that was asked for early, the next one asks again', async () => {
  const { fetched, read } = await load(EARLY);
  expect(fetched).toEqual([`GET ${EARLY}`]);
  expect(await read('/api/session')).toEqual({ answer: 1 });
  expect(await read('/api/session')).toEqual({ answer: 2 });
});

test('after a write, what was asked for before it is not used', async () => {
  const { fetched, read } = await load(EARLY);
  await read('/api/auth/sign-in/email', { method: 'POST' });
  expect(await read('/api/session')).toEqual({ answer: 3 });
  expect(fetched).toHaveLength(3);
});

test('an answer is not kept for long', async () => {
  vi.useFakeTimers();
  const { read } = await load(EARLY);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await read('/api/session')).toEqual({ answer: 2 });
});

test('an early answer says nothing of the time, a later one does', async () => {
  const { earlyFetch } = await load(EARLY);
  const { headers } = await earlyFetch('/api/session');
  expect([headers.get('date'), headers.get('x-request-id')]).toEqual([null, 'req_1']);
  expect((await earlyFetch('/api/session')).headers.get('date')).toBe(DATE);
});
