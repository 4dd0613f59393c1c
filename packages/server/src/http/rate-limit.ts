/** The rate limit as answers tell of it. */
import type { RateState } from '../limits/limiter.ts';

/** The rate limit headers that every answer carries. */
export function rateHeaders(state: RateState, now = Date.now()): Record<string, string> {
  return {
    RateLimit: `"ingress";r=${state.remaining};t=${state.resetSeconds}`,
    'RateLimit-Policy': `"ingress";q=${state.limit};qu="requests";w=${state.windowSeconds}`,
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Reset': String(Math.ceil(now / 1000) + state.resetSeconds),
  };
}

/** Both forms of the delay, on 429 and 503 only. */
export const retryHeaders = (seconds: number): Record<string, string> => ({
  'Retry-After': String(seconds),
  'X-Retry-After': String(seconds),
});
