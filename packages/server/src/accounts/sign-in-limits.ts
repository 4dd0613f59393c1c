/**
 * Bounds the guessing of passwords: failures only, per account and per address, in rolling windows of this process. Right passwords are
 * never counted, so many people behind one address sign in freely.
 */
import { ApiError } from '../http/errors.ts';
import { createRateLimiter, retryHeaders } from '../http/rate-limit.ts';

const WINDOW_SECONDS = 300;
const byAccount = createRateLimiter(50, WINDOW_SECONDS);
const byAddress = createRateLimiter(200, WINDOW_SECONDS);

const account = (email: string) => email.toLowerCase();

/** Throws 429 where too many attempts failed. To be called before the password is looked at. */
export function requireAttempt(email: string, address: string): void {
  for (const state of [byAccount.peek(account(email)), byAddress.peek(address)]) {
    if (state.remaining > 0) continue;
    throw new ApiError('rate_limited', `Too many sign-in attempts failed. Retry in ${state.resetSeconds} s.`, { headers: retryHeaders(state.resetSeconds) });
  }
}

export function countFailure(email: string, address: string): void {
  byAccount.take(account(email));
  byAddress.take(address);
}
