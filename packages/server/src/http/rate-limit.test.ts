import { expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import { rateHeaders, retryHeaders } from './rate-limit.ts';

test('the headers tell the policy and what is left of it', () => {
  expect(
    rateHeaders(
      { verdict: 'allowed', limit: 600, remaining: 599, resetSeconds: 60, windowSeconds: 60 },
      1_790_000_000_500,
    ),
  ).toEqual({
    RateLimit: '"ingress";r=599;t=60',
    'RateLimit-Policy': '"ingress";q=600;qu="requests";w=60',
    'X-RateLimit-Limit': '600',
    'X-RateLimit-Remaining': '599',
    'X-RateLimit-Reset': '1790000061',
  });
  expect(retryHeaders(3)).toEqual({ 'Retry-After': '3', 'X-Retry-After': '3' });
});

test('two services on one database share the window of a key', async () => {
  const env = { HEADRACE_ROLES: 'api', HEADRACE_RATE_LIMIT: '24', HEADRACE_RATE_WINDOW_SECONDS: '3600' };
  const one = await startTestServer(env);
  const two = await startTestServer(env, one);
  try {
    const answers = [];
    for (let i = 0; i < 30; i++) answers.push(await (i % 3 ? one : two).call('GET', '/api/projects'));
    expect(answers.map((a) => a.status)).toEqual([
      ...Array.from({ length: 24 }, () => 200),
      ...Array.from({ length: 6 }, () => 429),
    ]);
    for (const answer of answers.slice(24))
      expect([answer.headers.get('ratelimit'), Number(answer.headers.get('retry-after')) > 3500]).toEqual([
        expect.stringContaining('r=0;'),
        true,
      ]);
  } finally {
    await two.close();
    await one.close();
  }
});

test('what other services send counts for their address, whatever credential comes with it', async () => {
  const s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_RATE_LIMIT: '100' });
  try {
    const credentials = [
      ['authorization', `Bearer ${s.key}`],
      ['x-api-key', s.key],
      ['authorization', 'Bearer whsec_c2VjcmV0'],
      ['authorization', `Basic ${btoa(`key:${s.key}`)}`],
      ['cookie', 'session=x'],
    ] as const;
    const remaining = async (path: string, headers: Record<string, string>) =>
      Number((await s.call('POST', path, {}, { key: null, headers })).headers.get('x-ratelimit-remaining'));
    for (const path of [
      '/api/source-control/scm/webhooks/ins_x',
      '/api/hooks/automations/aut_x',
      '/api/hooks/automation%73/aut_x',
    ]) {
      const first = await remaining(path, {});
      for (const [i, [name, value]] of credentials.entries())
        expect(await remaining(path, { [name]: value }), `${path} ${i}`).toBe(first - 1 - i);
    }
    // The key's own bucket has counted none of them.
    expect((await s.call('GET', '/api/projects')).headers.get('x-ratelimit-remaining')).toBe('99');
  } finally {
    await s.close();
  }
});
