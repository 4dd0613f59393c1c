import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';

/** A service whose health is fine, at a time. */
function service({ nowMs = Date.now(), isReady = true } = {}) {
  const inner = createTestService();
  return {
    ...inner,
    fetch: async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
      const { pathname } = new URL(input instanceof Request ? input.url : String(input));
      const headers = { 'content-type': 'application/json', date: new Date(nowMs).toUTCString() };
      if (pathname === '/health')
        return Response.json({ ok: true, status: 'ok', version: '0.1.0' }, { headers });
      if (pathname !== '/health/ready') return inner.fetch(input, init);
      return isReady
        ? Response.json({ ok: true, status: 'ready' }, { headers })
        : Response.json(
            { ok: false, error: { code: 'not_ready', message: 'Not ready: sandbox' } },
            { status: 503, headers: { ...headers, 'retry-after': '60' } },
          );
    },
  };
}

test('exit code 0: a service that works', async () => {
  const one = service();
  const cli = testCli(one);
  const { exit, stdout, stderr } = await cli.run(['doctor', '--remote']);
  expect([exit, stderr, stdout.replace(/in \d+ ms/, 'in 5 ms')]).toEqual([
    0,
    '',
    `ok       service  ${one.url} answers in 5 ms, version 0.1.0\n` +
      'ok       ready    database, storage and sandboxes work\n' +
      'ok       sign-in  by HEADRACE_KEY\n' +
      'ok       clock    the same here and there\n',
  ]);
});

test('exit code 1: a service that is not ready; its clock is two hours behind', async () => {
  const cli = testCli(service({ isReady: false, nowMs: Date.now() - 7_230_000 }));
  const { exit, json } = await cli.run(['doctor', '--remote', '--json']);
  expect([exit, json().ok]).toEqual([1, true]);
  expect(json().findings).toMatchObject([
    { name: 'service', ok: true },
    { name: 'ready', ok: false, detail: 'Not ready: sandbox' },
    { name: 'sign-in', ok: true },
    { name: 'clock', detail: '2 h 0 min apart', warnings: [expect.stringContaining('NTP')] },
  ]);
});
