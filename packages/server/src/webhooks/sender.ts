/**
 * Sends due deliveries. One process at a time does this, so the first attempts of a subscription begin in the log's
 * order, and the number of its attempts in flight is bounded. The memory of that process holds hints only; its
 * successor reads everything from the database.
 *
 *   due --begun--> under way --answered--> stored, in the database first
 *
 * If the process dies in between, its successor repeats the attempt with the same id.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, PoolConfig } from 'pg';
import type { Context } from '../context.ts';
import { WEBHOOKS_LOCK } from '../db/advisory-locks.ts';
import { holdLock } from '../db/hold-lock.ts';
import type { DeliveryAttempt } from '../db/schema.ts';
import { limitConcurrency } from '../limit-concurrency.ts';
import type { When } from '../jobs/every.ts';
import { Rest } from '../jobs/rest.ts';
import { openSigningSecrets } from '../signing-secrets.ts';
import { attempt } from './attempt.ts';
import type { Answer } from './attempt.ts';
import { endDeliveries, findDue, findSubscriptionsDue, settleAccepted } from './delivery-store.ts';
import type { Attempted, DueDelivery, Wanted } from './delivery-store.ts';
import { envelopeOf } from './envelope.ts';
import { Lines } from './lines.ts';
import { maintainDeliveries } from './maintain.ts';
import { nameResolver } from './resolve.ts';
import type { Resolve } from './resolve.ts';
import { PURPOSE } from './secrets.ts';
import { settleFailure } from './settle.ts';
import { signedHeaders } from './sign.ts';

/** A look finds due deliveries without a hint. An expensive look delays the next one. */
const LOOK_MS = 1_000;
const LOOK_SHARE = 0.02;
/** The pause between two rounds: a round costs about the same for one delivery as for ten. */
const PACE_MS = 5;
/** Later retries get no timer: a look finds them soon enough. */
const TIMER_MS = 30_000;
/** A subscription whose attempt could not be made or stored rests; otherwise it would be retried at full speed. */
const TROUBLE_REST_MS = 10_000;
/** Outcomes that are stored together. */
const STORED_TOGETHER = 500;
/** Each failure is stored by itself. This many at once, since each takes a connection of the pool. */
const FAILURES_STORED = 4;

interface Limits {
  /** The limit of an attempt, from the look-up to the response. */
  attemptMs: number;
  /** The limit of attempts in flight when the process stops; dropped ones are repeated. */
  graceMs: number;
  resolve: Resolve;
}

const LIMITS: Limits = { attemptMs: 15_000, graceMs: 3_000, resolve: nameResolver() };

type Deps = Pick<Context, 'db' | 'bus' | 'clock' | 'config' | 'log' | 'secretKey' | 'version'>;

export interface Sender {
  /** Waits a few seconds for attempts in flight, then drops them; another process continues. */
  stop(): Promise<void>;
}

export function startSender(ctx: Deps, connection: PoolConfig, limits: Limits = LIMITS, when?: When): Sender {
  return holdLock(
    { connection, lock: WEBHOOKS_LOCK, name: 'webhooks', log: ctx.log, when },
    async (client, signal) => {
      await Promise.all([new Sending(ctx, client, limits).run(signal), maintainDeliveries(ctx, signal)]);
    },
  );
}

interface Accepted {
  delivery: Attempted;
  attempt: DeliveryAttempt;
}

/** The work of the process that holds the lock. */
class Sending {
  readonly #ctx: Deps;
  readonly #client: Client;
  readonly #limits: Limits;
  readonly #lines = new Lines();
  readonly #dropped = new AbortController();
  readonly #posts = new Set<Promise<void>>();
  readonly #accepted: (Accepted & { stored: PromiseWithResolvers<void> })[] = [];
  readonly #inFailures = limitConcurrency(FAILURES_STORED);
  #isStoring = false;
  readonly #rest = new Rest();

  constructor(ctx: Deps, client: Client, limits: Limits) {
    this.#ctx = ctx;
    this.#client = client;
    this.#limits = limits;
  }

  async run(signal: AbortSignal): Promise<void> {
    const unlisten = this.#ctx.bus.listen('webhooks', (subscriptionId) => this.#mark(subscriptionId));
    signal.addEventListener('abort', () => this.#rest.wake(), { once: true });
    try {
      await this.#client.query(SETTINGS);
      await this.#sendUntil(signal);
    } catch (error) {
      // Another process may send now.
      this.#dropped.abort();
      throw error;
    } finally {
      unlisten();
      const timer = setTimeout(() => this.#dropped.abort(), this.#limits.graceMs);
      await Promise.all(this.#posts);
      clearTimeout(timer);
    }
  }

  async #sendUntil(signal: AbortSignal): Promise<void> {
    for (let lookAt = 0; !signal.aborted;) {
      const began = performance.now();
      if (began >= lookAt) {
        await this.#look();
        lookAt = Math.max(began + LOOK_MS, performance.now() + (performance.now() - began) / LOOK_SHARE);
      }
      const wanted = this.#lines.take(performance.now());
      if (wanted.length) await this.#begin(wanted);
      const now = performance.now();
      await this.#rest.take(wanted.length ? 0 : Math.min(lookAt - now, this.#lines.restMs(now)));
      const early = began + PACE_MS - performance.now();
      if (early > 0) await sleep(early);
    }
    // The lock is lost with its connection.
    await this.#client.query('select');
  }

  async #look(): Promise<void> {
    this.#lines.forgetIdle();
    const given = { clock: this.#ctx.clock, underWay: this.#lines.underWay() };
    for (const id of await findSubscriptionsDue(this.#client, given)) this.#lines.markFromStart(id);
  }

  async #begin(wanted: Wanted[]): Promise<void> {
    const underWay = this.#lines.underWay();
    const due = await findDue(this.#client, { clock: this.#ctx.clock, underWay, wanted });
    const ofSubscription = Map.groupBy(due, (delivery) => delivery.subscription_id);
    for (const one of wanted) this.#lines.found(one, ofSubscription.get(one.subscriptionId) ?? []);
    for (const [event, isSo] of UNSENT) {
      const ids = due.filter(isSo).map(({ id }) => id);
      if (ids.length) await endDeliveries(this.#ctx.db, ids, event);
    }
    for (const delivery of due) if (!UNSENT.some(([, isSo]) => isSo(delivery))) this.#post(delivery);
  }

  #post(delivery: DueDelivery): void {
    const { id, subscription_id: subscriptionId } = delivery;
    this.#lines.begin(delivery, performance.now());
    const post = this.#send(delivery)
      .then(
        (isAccepted) => this.#lines.end(subscriptionId, id, { isAccepted }),
        (err: unknown) => {
          this.#ctx.log.error(
            { err, delivery: id },
            'an attempt of a delivery failed or its outcome could not be stored; it is repeated',
          );
          this.#lines.end(subscriptionId, id, { isAccepted: false });
          this.#lines.rest(subscriptionId, performance.now() + TROUBLE_REST_MS);
        },
      )
      .finally(() => {
        this.#posts.delete(post);
        this.#rest.wake();
      });
    this.#posts.add(post);
  }

  /** Attempts, and stores the outcome. Returns whether it was accepted. */
  async #send(delivery: DueDelivery): Promise<boolean> {
    const { secretKey, version, config } = this.#ctx;
    const began = performance.now();
    const body = envelopeOf(delivery, secretKey);
    const owner = { ...delivery, id: delivery.subscription_id };
    const secrets = openSigningSecrets(secretKey, PURPOSE, owner, delivery.now);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Headrace/${version}`,
      ...signedHeaders({ id: delivery.event_id, body, at: delivery.now }, secrets),
    };
    const answer = await attempt(
      { url: delivery.url, headers, body },
      {
        resolve: this.#limits.resolve,
        allowPrivate: config.webhooks.allowPrivate,
        timeoutMs: this.#limits.attemptMs,
        signal: this.#dropped.signal,
      },
    );
    this.#lines.answered(delivery.subscription_id, delivery.id, performance.now());
    if (this.#dropped.signal.aborted) return false;
    return this.#store(delivery, answer, {
      at: delivery.now.toISOString(),
      durationMs: Math.round(performance.now() - began),
      statusCode: answer.statusCode,
      error: answer.error,
      response: answer.response,
    });
  }

  async #store(delivery: DueDelivery, answer: Answer, made: DeliveryAttempt): Promise<boolean> {
    if (made.error === null) {
      await this.#storeAccepted({ delivery, attempt: made });
      return true;
    }
    const failed = { delivery, attempt: made, retryAfter: answer.retryAfter };
    const nextMs = await this.#inFailures(() => settleFailure(this.#ctx, failed));
    if (nextMs !== null && nextMs <= TIMER_MS)
      setTimeout(() => this.#mark(delivery.subscription_id), nextMs).unref();
    return false;
  }

  /** Stores an accepted delivery together with others that are accepted meanwhile. */
  async #storeAccepted(accepted: Accepted): Promise<void> {
    const stored = Promise.withResolvers<void>();
    this.#accepted.push({ ...accepted, stored });
    if (!this.#isStoring) void this.#storeAll();
    await stored.promise;
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    while (this.#accepted.length) {
      const batch = this.#accepted.splice(0, STORED_TOGETHER);
      await settleAccepted(this.#client, batch).then(
        () => batch.forEach(({ stored }) => stored.resolve()),
        (error: unknown) => batch.forEach(({ stored }) => stored.reject(error)),
      );
    }
    this.#isStoring = false;
  }

  #mark(subscriptionId: string): void {
    this.#lines.mark(subscriptionId);
    this.#rest.wake();
  }
}

/**
 * The rows change too fast for the planner's statistics, so index scans are forced. A crash of the database may lose
 * the last outcomes; their attempts are repeated, so commits do not wait for the disk.
 */
const SETTINGS = `set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off;
  set synchronous_commit = off`;

/** Why a delivery ends without an attempt. */
const UNSENT = [
  ['withhold', (delivery: DueDelivery) => delivery.is_withheld],
  ['expire', (delivery: DueDelivery) => delivery.is_expired && !delivery.is_withheld],
] as const;
