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
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { OperationRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { OutcomeUnknown, settle } from './receipts.ts';
import type { Claim, WriteResult } from '../http/write-request.ts';

/**
 * What an effect is known by: `operationId` goes along with it, so that it can be found again; stop at
 * `signal`.
 */
export interface Mark {
  operationId: string;
  signal: AbortSignal;
}

/** An effect outside. `Target` is stored with the claim (JSON): ids and names, no secrets. */
export interface Effect<Target extends Record<string, unknown>, Found> {
  /** Does it, once. An ApiError says that nothing was done; anything else thrown, that nobody knows. */
  act(ctx: Context, target: Target, mark: Mark): Promise<Found>;
  /**
   * What `act` did; null when it certainly was not done and nothing of it is under way. Throws when that
   * cannot be told now. Changes nothing.
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

type Uncertain = Pick<OperationRow, 'id' | 'fence' | 'look_name' | 'looks'> & {
  look_target: Record<string, unknown>;
  is_given_up: boolean;
};

/**
 * A round: takes up the uncertain receipts that are due, as many as there is room for, and does not wait
 * for their looks.
 */
export function createLooker(ctx: Context, effects: Effects): () => Promise<void> {
  let looks = 0;
  return async () => {
    if (looks >= MAX_LOOKS) return;
    for (const row of await claimDue(ctx, MAX_LOOKS - looks)) {
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

async function claimDue(ctx: Context, limit: number): Promise<Uncertain[]> {
  const { rows } = await sql<Uncertain>`
    update operations set fence = fence + 1, lease_until = clock_timestamp() + ${LOOK_LEASE_MS} * interval '1 millisecond'
    where id in (select id from operations where status = 'uncertain' and lease_until < now() order by lease_until limit ${limit} for update skip locked)
    returning id, fence, look_name, look_target, looks, uncertain_at < clock_timestamp() - ${GIVE_UP_DAYS} * interval '1 day' as is_given_up`.execute(
    ctx.db,
  );
  return rows;
}

async function lookAfter(ctx: Context, row: Uncertain, effect: AnyEffect | undefined): Promise<void> {
  try {
    if (!effect) throw new Error(`this version knows no effect of ${row.look_name}`);
    const found = await lookOnce(ctx, row, effect);
    await transaction(ctx, async (tx) => {
      if (found === null) return settle(tx, row.id, row.fence, refusal(NOT_DONE), undefined, false);
      const result = await effect.record(tx, row.look_target, found);
      await settle(tx, row.id, row.fence, result, result.scope);
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
    ctx.db
      .updateTable('operations')
      .set({ lease_until: sql<Date>`clock_timestamp() + ${LOOK_LEASE_MS} * interval '1 millisecond'` })
      .where('id', '=', row.id)
      .where('fence', '=', row.fence)
      .where('status', '=', 'uncertain')
      .execute()
      .catch(() => {});
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

async function lookLater(ctx: Context, { id, fence, looks }: Uncertain): Promise<void> {
  const delay = Math.min(MAX_BACKOFF_SECONDS, 2 ** looks) * (0.75 + Math.random() / 2);
  await ctx.db
    .updateTable('operations')
    .set({ looks: looks + 1, lease_until: sql<Date>`clock_timestamp() + ${delay} * interval '1 second'` })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('status', '=', 'uncertain')
    .execute();
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
  await transaction(ctx, (tx) => settle(tx, id, fence, refusal(GIVEN_UP)));
}
