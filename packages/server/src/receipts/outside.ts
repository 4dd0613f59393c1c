/**
 * Writes with an effect outside of this service, which no transaction holds: claim, commit, act, settle.
 * When it is not known what became of the effect (the process died, the answer was lost), the receipt is
 * `uncertain`: a reconciler settles it by looking, never by acting again.
 *
 *   pending --act, record--> succeeded
 *   pending --act refused by an ApiError--> failed        nothing was done
 *   pending --anything else thrown, or the lease over--> uncertain
 *   uncertain --look: done--> record --> succeeded        the answer that `act` would have led to
 *   uncertain --look: not done--> failed 503, key free
 *   uncertain --look: cannot tell--> uncertain, looked at again after 1, 2, 4, … at most 300 s
 *   uncertain --since seven days--> failed 409, key reserved   nobody may repeat what may have been done: the caller has to look
 *
 * Several processes look: a row is one's own for LOOK_LEASE_MS, renewed while the look goes on, so that
 * another takes the look of a process that died over within two seconds. The fence keeps one that was
 * overtaken from settling.
 */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { settle } from './settle.ts';
import { claimLooks, postponeLook, renewLook } from './store.ts';
import type { Uncertain } from './store.ts';
import { OutcomeUnknown } from './write-claimed.ts';
import type { Claim, WriteResult } from '../http/write-request.ts';

/**
 * What an effect is known by: `operationId` goes along with it, so that it can be found again; stop at
 * `signal`.
 */
interface Mark {
  operationId: string;
  signal: AbortSignal;
}

/** An effect outside. `Target` is stored with the claim (JSON): ids and names, no secrets. */
export interface Effect<Target extends Record<string, unknown>, Found> {
  /** Does it, once. An ApiError says that nothing was done; anything else thrown leaves it unknown. */
  act(ctx: Context, target: Target, mark: Mark): Promise<Found>;
  /**
   * What `act` did; null when it certainly was not done and nothing of it is under way. Throws when that
   * cannot be found out now. Changes nothing.
   */
  look(ctx: Context, target: Target, mark: Mark): Promise<Found | null>;
  /**
   * State, events and answer of what was done, in the transaction that settles. Must not refuse: it is
   * done.
   */
  record(tx: Tx, target: Target, found: Found): Promise<WriteResult>;
}

type AnyEffect = Effect<Record<string, unknown>, unknown>;
/** By the name of their operation: what a worker can look after. */
export type Effects = Record<string, AnyEffect>;

const LOOK_LEASE_MS = 1_200;
const RENEW_LOOK_MS = 400;
const LOOK_LIMIT_MS = 10_000;
const MAX_BACKOFF_SECONDS = 300;
const GIVE_UP_DAYS = 7;
/** Looks that one process has under way. */
const MAX_LOOKS = 8;

/** The work of an `outside` claim. */
export async function actOutside<T extends Record<string, unknown>, F>(
  ctx: Context,
  effect: Effect<T, F>,
  target: T,
  claim: Claim,
): Promise<WriteResult> {
  const found = await effect
    .act(ctx, target, { operationId: claim.operationId, signal: claim.signal })
    .catch((error: unknown) => {
      throw error instanceof ApiError ? error : new OutcomeUnknown('the effect is unknown', { cause: error });
    });
  try {
    return await transaction(ctx, async (tx) => {
      const result = await effect.record(tx, target, found);
      await claim.settle(tx, result);
      return result;
    });
  } catch (error) {
    // It is done, whatever this says.
    throw new OutcomeUnknown('the effect is not recorded', { cause: error });
  }
}

/**
 * A round: takes up the uncertain receipts that are due, as many as there is room for, and does not wait
 * for their looks.
 */
export function createLooker(ctx: Context, effects: Effects): () => Promise<void> {
  let looks = 0;
  return async () => {
    if (looks >= MAX_LOOKS) return;
    for (const row of await claimLooks(ctx.db, {
      limit: MAX_LOOKS - looks,
      leaseMs: LOOK_LEASE_MS,
      giveUpDays: GIVE_UP_DAYS,
    })) {
      looks++;
      lookAfter(ctx, row, effects[row.look_name!])
        .catch((err: unknown) =>
          ctx.log.warn(
            { err, operation: row.id },
            'an uncertain receipt could not be looked after; another look follows',
          ),
        )
        .finally(() => {
          looks--;
        });
    }
  };
}

async function lookAfter(ctx: Context, row: Uncertain, effect: AnyEffect | undefined): Promise<void> {
  try {
    if (!effect) throw new Error(`this version knows no effect of ${row.look_name}`);
    const found = await lookOnce(ctx, row, effect);
    await transaction(ctx, async (tx) => {
      const claim = { operationId: row.id, fence: row.fence };
      if (found === null) return settle(tx, claim, refusal(NOT_DONE), { isReserved: false });
      const result = await effect.record(tx, row.look_target, found);
      await settle(tx, claim, result, { scope: result.scope });
    });
  } catch (err) {
    ctx.log.warn(
      { err, operation: row.id, looks: row.looks + 1 },
      'what became of a write outside cannot be told yet',
    );
    await (row.is_given_up ? giveUp(ctx, row) : lookLater(ctx, row));
  }
}

/** One look, within its limit; the row stays this process's own meanwhile. */
async function lookOnce(ctx: Context, row: Uncertain, effect: AnyEffect): Promise<unknown> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('the look took too long')), LOOK_LIMIT_MS);
  const renewal = setInterval(() => {
    renewLook(ctx.db, row, LOOK_LEASE_MS).catch(() => {});
  }, RENEW_LOOK_MS);
  const tooLate = new Promise<never>((_, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason as Error));
  });
  try {
    return await Promise.race([
      effect.look(ctx, row.look_target, { operationId: row.id, signal: limit.signal }),
      tooLate,
    ]);
  } finally {
    clearTimeout(timer);
    clearInterval(renewal);
  }
}

async function lookLater(ctx: Context, row: Uncertain): Promise<void> {
  const delaySeconds = Math.min(MAX_BACKOFF_SECONDS, 2 ** row.looks) * (0.75 + Math.random() / 2);
  await postponeLook(ctx.db, row, delaySeconds);
}

const NOT_DONE = new ApiError(
  'unavailable',
  'The process that worked on this request ended before it was done. Retry with the same Idempotency-Key.',
);
const GIVEN_UP = new ApiError(
  'conflict',
  'It could not be found out within seven days whether this was done. Look there yourself before you ask for it with a new Idempotency-Key.',
);
const refusal = (error: ApiError): WriteResult => ({ status: error.status, body: error.body('none') });

async function giveUp(ctx: Context, { id, fence }: Uncertain): Promise<void> {
  ctx.log.error(
    { operation: id },
    'what became of a write outside was not found out within seven days; its caller has to look',
  );
  await transaction(ctx, (tx) => settle(tx, { operationId: id, fence }, refusal(GIVEN_UP)));
}
