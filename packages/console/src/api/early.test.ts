import { afterEach, expect, test, vi } from 'vitest';

const AT = 'http://console.test/console/';
const EARLY = 'http://console.test/api/session';

/** The module, on a page that has these preloads; and what was fetched. */
async function load(...hrefs: string[]) {
  const fetched: string[] = [];
  vi.stubGlobal('location', { href: AT });
  vi.stubGlobal('document', { querySelectorAll: () => hrefs.map((href) => ({ href })) });
  vi.stubGlobal('fetch', async (input: string, init?: RequestInit) => {
    fetched.push(`${init?.method ?? 'GET'} ${input}`);
    return Response.json({ answer: fetched.length });
  });
  vi.resetModules();
  const { earlyFetch } = await import('./early.ts');
  const read = async (input: string, init?: RequestInit) => (await earlyFetch(input, init)).json();
  return { fetched, read };
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
