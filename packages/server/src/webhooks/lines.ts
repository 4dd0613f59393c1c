/**
 * Which subscriptions may begin attempts now. This state is in memory only and dies with the process: the database
 * says what is due.
 *
 * At most 8 attempts of a subscription wait for a response. Subscriptions that fail or are slow have fewer places, apart
 * from the places of the others. The sender cannot know beforehand that a receiver is slow: when its attempts turn out
 * to be slow, they give the places back. Attempts to receivers that keep failing begin at a bounded rate; otherwise
 * 10,000 deliveries to a dead receiver would cost as much as 10,000 to working ones.
 */
import type { DueDelivery, Wanted } from './delivery-store.ts';
import { LEAST_FAILED } from './settle.ts';

const PLACES = 8;
/** The bound for subscriptions that neither fail nor are slow. */
const MOST_WELL = 1_024;
/** The bound for subscriptions that fail or are slow. Those that turn slow may exceed it for the time of an attempt. */
const MOST_SUSPECT = 512;
/** The bound for all. */
const MOST_UNDER_WAY = 4_096;
/** A subscription is slow while an attempt takes longer, and until a response arrives sooner. */
const SLOW_MS = 1_000;
/** The interval between two attempts of a subscription that fails; longer if many fail. */
const FAILING_PACE_MS = 25;
/** Attempts of all subscriptions that fail, per second. */
const FAILING_RATE = 100;
/** The number of subscriptions in one query. */
const MOST_ASKED = 100;

interface Line {
  /** Something may be due. */
  isReady: boolean;
  /** By delivery. */
  underWay: Map<string, UnderWay>;
  /** Enough attempts have failed since the last success that the receiver may be down. */
  isFailing: boolean;
  /** The last response was slow. */
  isSlow: boolean;
  restsUntil: number;
  /**
   * First attempts up to this number are done. Index entries of ended rows stay while an old snapshot exists, for
   * example during a dump; each round would walk them (60,000 entries: 26 ms instead of 0.02 ms).
   */
  floor: number;
  /** The highest number seen. */
  seen: number;
}

interface UnderWay {
  /** The delivery's number if this is a first attempt; null for a later one. */
  number: number | null;
  /** Infinity once the receiver has responded. */
  began: number;
}

type Found = Pick<DueDelivery, 'number' | 'attempt_count'>;
const numberOf = ({ number, attempt_count: count }: Found) => (count === 0 ? number : null);

export class Lines {
  /** In the order of their turns. */
  readonly #lines = new Map<string, Line>();
  #underWay = 0;

  /** The ids of deliveries with an attempt in flight or an outcome not yet stored. */
  underWay(): string[] {
    return [...this.#lines.values()].flatMap((line) => [...line.underWay.keys()]);
  }

  /** A delivery is due for a subscription, also without a hint. A number may become visible after a higher one. */
  markFromStart(subscriptionId: string): void {
    this.mark(subscriptionId);
    this.#lines.get(subscriptionId)!.floor = 0;
  }

  /** A delivery may be due for a subscription. */
  mark(subscriptionId: string): void {
    const line = this.#lines.get(subscriptionId);
    if (line) line.isReady = true;
    else
      this.#lines.set(subscriptionId, {
        isReady: true,
        underWay: new Map(),
        isFailing: false,
        isSlow: false,
        restsUntil: 0,
        floor: 0,
        seen: 0,
      });
  }

  /** Takes the subscriptions that have their turn, with the number of attempts that may begin. */
  take(now: number): Wanted[] {
    let free = MOST_UNDER_WAY - this.#underWay;
    const suspects = [...this.#lines.values()].filter((line) => isSuspect(line, now));
    const ofSuspects = suspects.reduce((sum, line) => sum + line.underWay.size, 0);
    let freeOfSuspects = MOST_SUSPECT - ofSuspects;
    let freeOfWell = MOST_WELL - (this.#underWay - ofSuspects);
    const taken: Wanted[] = [];
    for (const [subscriptionId, line] of this.#lines) {
      if (!line.isReady || line.restsUntil > now) continue;
      const suspect = isSuspect(line, now);
      const places = Math.min(
        PLACES - unanswered(line),
        free,
        suspect ? freeOfSuspects : freeOfWell,
        line.isFailing ? 1 : PLACES,
      );
      if (places <= 0) continue;
      free -= places;
      if (suspect) freeOfSuspects -= places;
      else freeOfWell -= places;
      if (line.isFailing)
        line.restsUntil = now + Math.max(FAILING_PACE_MS, (1_000 * suspects.length) / FAILING_RATE);
      line.isReady = false;
      taken.push({ subscriptionId, places, floor: line.floor });
      if (taken.length === MOST_ASKED) break;
    }
    for (const { subscriptionId } of taken) this.#toTheEnd(subscriptionId);
    return taken;
  }

  /** Milliseconds until the first resting subscription may have its turn. */
  restMs(now: number): number {
    return [...this.#lines.values()].reduce(
      (least, line) =>
        line.isReady && line.restsUntil > now && unanswered(line) < PLACES
          ? Math.min(least, line.restsUntil - now)
          : least,
      Infinity,
    );
  }

  /** The due deliveries of a taken subscription; if they fill its places, more may be due. */
  found({ subscriptionId, places }: Wanted, due: readonly Found[]): void {
    const line = this.#lines.get(subscriptionId)!;
    const isAll = due.length < places;
    if (!isAll) line.isReady = true;
    const found = due.map(numberOf).filter((number) => number !== null);
    const open = [...found, ...[...line.underWay.values()].flatMap(({ number }) => number ?? [])];
    line.seen = Math.max(line.seen, ...found);
    if (isAll || found.length) line.floor = open.length ? Math.min(...open) - 1 : line.seen;
  }

  begin(
    {
      subscription_id,
      id,
      failed_attempts,
      ...delivery
    }: Pick<DueDelivery, 'subscription_id' | 'id' | 'failed_attempts'> & Found,
    now: number,
  ): void {
    const line = this.#lines.get(subscription_id)!;
    line.underWay.set(id, { number: numberOf(delivery), began: now });
    line.isFailing = failed_attempts >= LEAST_FAILED;
    this.#underWay++;
  }

  /** The receiver has responded: its place is free. */
  answered(subscriptionId: string, deliveryId: string, now: number): void {
    const line = this.#lines.get(subscriptionId)!;
    const one = line.underWay.get(deliveryId)!;
    line.isSlow = now - one.began > SLOW_MS;
    one.began = Infinity;
  }

  /** Called after the outcome is stored. Other due deliveries were seen when this one was found. */
  end(subscriptionId: string, deliveryId: string, { isAccepted }: { isAccepted: boolean }): void {
    const line = this.#lines.get(subscriptionId)!;
    line.underWay.delete(deliveryId);
    line.isFailing &&= !isAccepted;
    this.#underWay--;
  }

  /** Begins no attempt of a subscription until then; deliveries that could not be attempted are still due. */
  rest(subscriptionId: string, until: number): void {
    const line = this.#lines.get(subscriptionId)!;
    line.isReady = true;
    line.floor = 0;
    line.restsUntil = Math.max(line.restsUntil, until);
  }

  /** Forgets the subscriptions without due deliveries and attempts. */
  forgetIdle(): void {
    for (const [id, line] of this.#lines)
      if (!line.isReady && line.underWay.size === 0) this.#lines.delete(id);
  }

  #toTheEnd(subscriptionId: string): void {
    const line = this.#lines.get(subscriptionId)!;
    this.#lines.delete(subscriptionId);
    this.#lines.set(subscriptionId, line);
  }
}

/** The attempts that occupy a place; those that wait only for storage do not. */
function unanswered({ underWay }: Line): number {
  let count = 0;
  for (const { began } of underWay.values()) if (began !== Infinity) count++;
  return count;
}

function isSuspect({ isFailing, isSlow, underWay }: Line, now: number): boolean {
  if (isFailing || isSlow) return true;
  for (const { began } of underWay.values()) if (now - began > SLOW_MS) return true;
  return false;
}
