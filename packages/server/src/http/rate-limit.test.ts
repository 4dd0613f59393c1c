import { expect, test } from 'vitest';
import { rateHeaders, retryHeaders } from './rate-limit.ts';

test('the headers tell the policy and what is left of it', () => {
  expect(rateHeaders({ verdict: 'allowed', limit: 600, remaining: 599, resetSeconds: 60, windowSeconds: 60 }, 1_790_000_000_500)).toEqual({
    RateLimit: '"ingress";r=599;t=60', 'RateLimit-Policy': '"ingress";q=600;qu="requests";w=60', 'X-RateLimit-Limit': '600', 'X-RateLimit-Remaining': '599', 'X-RateLimit-Reset': '1790000061',
  });
  expect(retryHeaders(3)).toEqual({ 'Retry-After': '3', 'X-Retry-After': '3' });
});
