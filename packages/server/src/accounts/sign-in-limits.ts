/**
 * Bounds the guessing of passwords, without a way for a guesser to lock anybody out:
 *
 *   per network   PER_NETWORK wrong passwords, for whichever account, close it for the rest of a window.
 *   per account   FREE failures cost nothing. Each further one doubles how long a network has to wait between
 *                 two attempts, up to MAX_DELAY_SECONDS. Each network waits by itself: attempts from
 *                 elsewhere do not push its turn back. A network that the right password came from does not
 *                 wait at all.
 *
 * So the owner of an account that is under attack from everywhere signs in at once from where they did
 * before, and after a few minutes from anywhere else. An attempt is counted before its password is looked
 * at, so that many at once are no way around, and uncounted when it was right.
 *
 * An address without a user is counted in the same way with the same statements: answers and their times do
 * not reveal who has a user here.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { retryHeaders } from '../http/rate-limit.ts';
import type { RateState } from '../limits/limiter.ts';
import { networkOf } from '../limits/networks.ts';
import {
  countSignInFailure,
  deleteOldAttempts,
  lockSignInFailures,
  noteWaitingNetwork,
  rememberNetwork,
  uncountSignInFailure,
} from './store.ts';
import type { Attempt } from './store.ts';
import { turns } from './turns.ts';

const WINDOW_SECONDS = 300;
const PER_NETWORK = 200;
const FREE = 20;
const MAX_DELAY_SECONDS = 300;

/** Attempts on one account wait for each other in the database: few connections may do so. */
const inTurn = turns(2, 200);

/** Attempts are kept under no address in clear. */
export const accountOf = (email: string) => createHash('sha256').update(email.toLowerCase()).digest();

/** Seconds between two attempts of a network, after that many failures of the account. */
export const delayAfter = (failures: number) =>
  failures < FREE ? 0 : Math.min(2 ** (failures - FREE), MAX_DELAY_SECONDS);

/**
 * Whether `isRight`, which looks at the password, resolves to true. Throws 429 where the attempt has to
 * wait, and 503 where it cannot be counted.
 */
export async function attempt(
  ctx: Pick<Context, 'limits' | 'db' | 'bus'>,
  email: string,
  address: string,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  const who = { account: accountOf(email), network: networkOf(address) };
  const networks = ctx.limits.limiter('sign-in-address', PER_NETWORK, WINDOW_SECONDS);
  requireAllowed(await networks.take(who.network));
  let isWrong = false;
  try {
    const waitSeconds = await inTurn(() => transaction(ctx, (tx) => beginAttempt(tx, who)));
    if (waitSeconds > 0) throw tooMany(waitSeconds);
    isWrong = !(await looked(ctx, who, isRight));
    return !isWrong;
  } finally {
    // A look that failed was no guess either.
    if (!isWrong) networks.giveBack(who.network);
  }
}

function requireAllowed({ verdict, resetSeconds }: RateState): void {
  if (verdict === 'away')
    throw new ApiError('unavailable', 'The rate limiter is away. Retry in a moment.', {
      headers: retryHeaders(resetSeconds),
    });
  if (verdict === 'refused') throw tooMany(resetSeconds);
}

const tooMany = (seconds: number) =>
  new ApiError('rate_limited', `Too many sign-in attempts failed. Retry in ${seconds} s.`, {
    headers: retryHeaders(seconds),
  });

/** Counts the attempt and returns 0, or returns how many seconds its network has to wait. */
async function beginAttempt(tx: Tx, who: Attempt): Promise<number> {
  const failures = await lockSignInFailures(tx, who.account);
  const network = await tx.db
    .selectFrom('sign_in_networks')
    .select(['is_known', 'attempted_at', (eb) => eb.fn<Date>('now').as('now')])
    .where('account', '=', who.account)
    .where('network', '=', who.network)
    .executeTakeFirst();
  // A transaction that began later may have had the lock first.
  const elapsed = network ? Math.max(0, network.now.getTime() - network.attempted_at.getTime()) / 1000 : 0;
  const wait = network?.is_known ? 0 : delayAfter(failures) - elapsed;
  if (wait > 0) {
    if (!network) await noteWaitingNetwork(tx, who);
    return Math.ceil(wait);
  }
  await countSignInFailure(tx, who);
  await deleteOldAttempts(tx);
  return 0;
}

async function looked(
  ctx: Pick<Context, 'db' | 'bus'>,
  who: Attempt,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  let verdict: 'right' | 'wrong' | 'unknown' = 'unknown';
  try {
    verdict = (await isRight()) ? 'right' : 'wrong';
    return verdict === 'right';
  } finally {
    if (verdict !== 'wrong')
      await inTurn(() =>
        transaction(ctx, async (tx) => {
          await uncountSignInFailure(tx, who.account);
          if (verdict === 'right') await rememberNetwork(tx, who);
        }),
      );
  }
}
