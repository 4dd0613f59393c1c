/**
 * Which subscriptions may have further attempts now. All of it is kept in memory and forgotten with the process:
 * the database says what is due.
 *
 * At most 8 attempts of a subscription are under way. All together are bounded, and those of subscriptions that
 * fail or are slow more tightly, so that these leave room for the others. What fails fast begins at a bounded
 * rate: 10,000 deliveries to a receiver that is down would cost what 10,000 to living ones cost.
 */

const PLACES = 8;
const MOST_UNDER_WAY = 1_024;
/** Of subscriptions that fail or are slow. */
const MOST_SUSPECT = 512;
/** A subscription with an attempt that takes longer is slow. */
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
  /** When attempts began, by their deliveries; never, once they are answered. */
  underWay: Map<string, number>;
  isFailing: boolean;
  restsUntil: number;
}

export class Lines {
  /** Those whose turn is next are first. */
  readonly #lines = new Map<string, Line>();
  #underWay = 0;

  /** The deliveries that are under way. */
  underWay(): string[] {
    return [...this.#lines.values()].flatMap((line) => [...line.underWay.keys()]);
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
        restsUntil: 0,
      });
  }

  /** Takes the subscriptions whose turn it is, with the number of attempts that may begin. */
  take(now: number): { subscriptionId: string; places: number }[] {
    let free = MOST_UNDER_WAY - this.#underWay;
    const suspects = [...this.#lines.values()].filter((line) => isSuspect(line, now));
    let freeOfSuspects = MOST_SUSPECT - suspects.reduce((sum, line) => sum + line.underWay.size, 0);
    const taken: { subscriptionId: string; places: number }[] = [];
    for (const [subscriptionId, line] of this.#lines) {
      if (!line.isReady || line.restsUntil > now) continue;
      const suspect = isSuspect(line, now);
      const places = Math.min(
        PLACES - line.underWay.size,
        free,
        suspect ? freeOfSuspects : PLACES,
        line.isFailing ? 1 : PLACES,
      );
      if (places <= 0) continue;
      free -= places;
      if (suspect) freeOfSuspects -= places;
      if (line.isFailing)
        line.restsUntil = now + Math.max(FAILING_PACE_MS, (1_000 * suspects.length) / FAILING_RATE);
      line.isReady = false;
      taken.push({ subscriptionId, places });
      if (taken.length === MOST_ASKED) break;
    }
    for (const { subscriptionId } of taken) this.#toTheEnd(subscriptionId);
    return taken;
  }

  /** Milliseconds until a subscription that rests may have its turn. */
  restMs(now: number): number {
    return [...this.#lines.values()].reduce(
      (least, line) =>
        line.isReady && line.restsUntil > now && line.underWay.size < PLACES
          ? Math.min(least, line.restsUntil - now)
          : least,
      Infinity,
    );
  }

  begin(
    subscriptionId: string,
    deliveryId: string,
    { now, isFailing }: { now: number; isFailing: boolean },
  ): void {
    const line = this.#lines.get(subscriptionId)!;
    line.underWay.set(deliveryId, now);
    line.isFailing ||= isFailing;
    this.#underWay++;
  }

  /** The receiver has done its part: its attempt is slow no more. */
  answered(subscriptionId: string, deliveryId: string): void {
    this.#lines.get(subscriptionId)!.underWay.set(deliveryId, Infinity);
  }

  /** After its outcome is stored. What else is due was seen when this one was found. */
  end(subscriptionId: string, deliveryId: string, { isFailing }: { isFailing: boolean }): void {
    const line = this.#lines.get(subscriptionId)!;
    line.underWay.delete(deliveryId);
    line.isFailing = isFailing;
    this.#underWay--;
  }

  /** Begins nothing of a subscription until then; what could not be attempted is still due. */
  rest(subscriptionId: string, until: number): void {
    const line = this.#lines.get(subscriptionId)!;
    line.isReady = true;
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

function isSuspect({ isFailing, underWay }: Line, now: number): boolean {
  if (isFailing) return true;
  for (const began of underWay.values()) if (now - began > SLOW_MS) return true;
  return false;
}
