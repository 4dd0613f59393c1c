/**
 * Bounds the guessing of passwords: failures only, per account and per address, in rolling windows of all
 * processes. An attempt is counted before the password is looked at, so that many at once are no way
 * around, and uncounted when it was right: many people behind one address sign in freely.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import { retryHeaders } from '../http/rate-limit.ts';

const WINDOW_SECONDS = 300;
const PER_ACCOUNT = 50;
const PER_ADDRESS = 200;

/** Whether the account exists or not, its attempts count; windows hold no address in clear. */
const account = (email: string) => createHash('sha256').update(email.toLowerCase()).digest('base64url');

/**
 * Whether `isRight`, which looks at the password, resolves to true. Throws 429 where too many attempts
 * failed, and 503 where they cannot be counted.
 */
export async function attempt(
  ctx: Pick<Context, 'limits'>,
  email: string,
  address: string,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  const windows = [
    { limiter: ctx.limits.limiter('sign-in-account', PER_ACCOUNT, WINDOW_SECONDS), bucket: account(email) },
    { limiter: ctx.limits.limiter('sign-in-address', PER_ADDRESS, WINDOW_SECONDS), bucket: address },
  ];
  const taken: typeof windows = [];
  const giveBack = () => {
    for (const { limiter, bucket } of taken) limiter.giveBack(bucket);
  };
  for (const window of windows) {
    const { verdict, resetSeconds } = await window.limiter.take(window.bucket);
    if (verdict === 'allowed') {
      taken.push(window);
      continue;
    }
    giveBack();
    if (verdict === 'away')
      throw new ApiError('unavailable', 'The rate limiter is away. Retry in a moment.', {
        headers: retryHeaders(resetSeconds),
      });
    throw new ApiError('rate_limited', `Too many sign-in attempts failed. Retry in ${resetSeconds} s.`, {
      headers: retryHeaders(resetSeconds),
    });
  }
  let isWrong = false;
  try {
    isWrong = !(await isRight());
    return !isWrong;
  } finally {
    // A look that failed was no guess either.
    if (!isWrong) giveBack();
  }
}
