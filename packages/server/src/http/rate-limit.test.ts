import { expect, test } from 'vitest';
import { createRateLimiter, rateHeaders, retryHeaders } from './rate-limit.ts';

function setUp(limit: number, windowSeconds: number) {
  const clock = { now: 1_000_000 };
  return { clock, limiter: createRateLimiter(limit, windowSeconds, () => clock.now) };
}

test('a bucket is full after its limit, and has room as each request leaves the window', () => {
  const { clock, limiter } = setUp(3, 10);
  const taken = [0, 2000, 3000].map((at) => { clock.now = 1_000_000 + at; return limiter.take('k'); });
  expect(taken.map((s) => [s.allowed, s.remaining, s.resetSeconds])).toEqual([[true, 2, 10], [true, 1, 8], [true, 0, 7]]);
  expect(limiter.take('k')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 7 });
  clock.now = 1_009_999;
  expect(limiter.take('k')).toMatchObject({ allowed: false, resetSeconds: 1 });
  clock.now = 1_010_000;
  // Only the first left: a fixed window would have let all three in.
  expect(limiter.take('k')).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 2 });
  expect(limiter.take('k').allowed).toBe(false);
});

test('refused requests and glances do not count', () => {
  const { clock, limiter } = setUp(1, 10);
  limiter.take('k');
  for (let i = 0; i < 50; i++) limiter.take('k');
  expect(limiter.peek('k')).toMatchObject({ remaining: 0, limit: 1, windowSeconds: 10 });
  clock.now += 10_000;
  expect(limiter.peek('k')).toMatchObject({ remaining: 1, resetSeconds: 0 });
  expect(limiter.take('k').allowed).toBe(true);
});

test('buckets are apart', () => {
  const { limiter } = setUp(1, 10);
  expect([limiter.take('a'), limiter.take('b'), limiter.take('a')].map((s) => s.allowed)).toEqual([true, true, false]);
});

test('never more than the limit in any window, over many windows and sweeps', () => {
  const { clock, limiter } = setUp(50, 1);
  const allowed: number[] = [];
  for (let i = 0; i < 20_000; i++) {
    clock.now += (i * 7919) % 13;
    if (limiter.take(i % 3 === 0 ? 'other' : 'k').allowed && i % 3 !== 0) allowed.push(clock.now);
  }
  for (let i = 50; i < allowed.length; i++) expect(allowed[i]! - allowed[i - 50]!).toBeGreaterThanOrEqual(1000);
  expect(allowed.length).toBeGreaterThan(5000);
});

test('the headers tell the policy and what is left of it', () => {
  const { limiter } = setUp(600, 60);
  expect(rateHeaders(limiter.take('k'), 1_790_000_000_500)).toEqual({
    RateLimit: '"ingress";r=599;t=60', 'RateLimit-Policy': '"ingress";q=600;qu="requests";w=60', 'X-RateLimit-Limit': '600', 'X-RateLimit-Remaining': '599', 'X-RateLimit-Reset': '1790000061',
  });
  expect(retryHeaders(3)).toEqual({ 'Retry-After': '3', 'X-Retry-After': '3' });
});
