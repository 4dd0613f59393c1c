import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('who waits for a sign-in goes on after the next one, or at once if it was before the wait', async () => {
  vi.stubGlobal('window', { addEventListener() {} });
  vi.stubGlobal('location', { origin: 'http://console.test', href: 'http://console.test/console/' });
  vi.resetModules();
  const { noticeSignIn, signInCount, untilSignedIn } = await import('./client.ts');
  const before = signInCount();
  let goesOn = false;
  const waited = untilSignedIn(before).then(() => (goesOn = true));
  await Promise.resolve();
  expect(goesOn).toBe(false);
  noticeSignIn();
  await waited;
  // The answer 401 of a request from before the sign-in, read after it.
  await untilSignedIn(before);
});
