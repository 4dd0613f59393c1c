/**
 * Which subscriptions may have further attempts now. All of it is kept in memory and forgotten with the process:
 * the database says what is due.
 *
 * At most 8 attempts of a subscription wait for an answer. Those of subscriptions that fail or are slow have places of
 * their own, and fewer: they take none of the others'. Nobody knows beforehand that a receiver is slow: when its
 * attempts turn out to be, the places that they took are the others' again. What has failed often begins at a bounded
 * rate: 10,000 deliveries to a receiver that is down would cost what 10,000 to living ones cost.
 */
import type { DueDelivery, Wanted } from './delivery-store.ts';
import { LEAST_FAILED } from './settle.ts';

const PLACES = 8;
/** Of subscriptions that neither fail nor are slow. */
const MOST_WELL = 1_024;
/** Of subscriptions that fail or are slow; those that turn slow may be more for the time of an attempt. */
const MOST_SUSPECT = 512;
/** Of all. */
const MOST_UNDER_WAY = 4_096;
/** A subscription is slow while an attempt takes longer, and until the next answer that comes sooner. */
const SLOW_MS = 1_000;
/** Between two attempts of a subscription that fails; more where many of them do. */
const FAILING_PACE_MS = 25;
/** Attempts of all subscriptions that fail, per second. */
const FAILING_RATE = 100;
/** Subscriptions that are asked for at once. */
const MOST_ASKED = 100;

interface Line {
  /** Something may be due. */
  isReady: boolean;
  /** By their deliveries. */
  underWay: Map<string, UnderWay>;
  /** So many attempts have failed since the last success that its receiver may be down. */
  isFailing: boolean;
  /** The last answer was slow. */
  isSlow: boolean;
  restsUntil: number;
  /**
   * First attempts up to this number were seen to be done. Index entries of rows that ended stay as long as an old
   * snapshot does, a dump's: each round would walk them (60,000: 26 ms, against 0.02).
   */
  floor: number;
  /** The highest number seen. */
  seen: number;
}

interface UnderWay {
  /** Of a first attempt; null: of a further one. */
  number: number | null;
  /** Infinity, once the receiver has answered. */
  began: number;
}

type Found = Pick<DueDelivery, 'number' | 'attempt_count'>;
const numberOf = ({ number, attempt_count: count }: Found) => (count === 0 ? number : null);

export class Lines {
  /** Those whose turn is next are first. */
  readonly #lines = new Map<string, Line>();
  #underWay = 0;

  /** The deliveries that are under way. */
  underWay(): string[] {
    return [...this.#lines.values()].flatMap((line) => [...line.underWay.keys()]);
  }

  /** Something is due for a subscription, also where no hint was. A number may become visible after a higher one. */
  markFromStart(subscriptionId: string): void {
    this.mark(subscriptionId);
    this.#lines.get(subscriptionId)!.floor = 0;
  }

  /** Something may be due for a subscription. */
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

  /** Takes the subscriptions whose turn it is, with the number of attempts that may begin. */
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

  /** Milliseconds until a subscription that rests may have its turn. */
  restMs(now: number): number {
    return [...this.#lines.values()].reduce(
      (least, line) =>
        line.isReady && line.restsUntil > now && unanswered(line) < PLACES
          ? Math.min(least, line.restsUntil - now)
          : least,
      Infinity,
    );
  }

  /** What was due of a subscription that was taken; where that fills its places, more may be. */
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

  /** The receiver has done its part, soon or late: its place is free. */
  answered(subscriptionId: string, deliveryId: string, now: number): void {
    const line = this.#lines.get(subscriptionId)!;
    const one = line.underWay.get(deliveryId)!;
    line.isSlow = now - one.began > SLOW_MS;
    one.began = Infinity;
  }

  /** After its outcome is stored. What else is due was seen when this one was found. */
  end(subscriptionId: string, deliveryId: string, { isAccepted }: { isAccepted: boolean }): void {
    const line = this.#lines.get(subscriptionId)!;
    line.underWay.delete(deliveryId);
    line.isFailing &&= !isAccepted;
    this.#underWay--;
  }

  /** Begins nothing of a subscription until then; what could not be attempted is still due. */
  rest(subscriptionId: string, until: number): void {
    const line = this.#lines.get(subscriptionId)!;
    line.isReady = true;
    line.floor = 0;
    line.restsUntil = Math.max(line.restsUntil, until);
  }

  /** Forgets the subscriptions of which nothing is due or under way. */
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

/** What has a place at its receiver; its outcome may be stored later. */
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
