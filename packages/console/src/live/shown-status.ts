/** What one tab shows of the connections, from what its leader says of them. */
import { serviceNow } from '../api/clock.ts';
import type { SentStatus } from './messages.ts';
import type { LiveState, LiveStatus } from './state.ts';

export interface ShownStatusOptions {
  /** How long no tab may ask for anything. */
  pausedMs(): number;
  onChange(): void;
}

/** How late a hidden leader's timer may be before it is asked to try again. */
const LATE_MS = 1_500;
/** A status that differs only in the time of its data is shown this seldom. */
const DATA_AT_MS = 5_000;
/** The same moment, converted twice. */
const NOISE_MS = 100;

const NONE: LiveStatus = {
  state: 'connecting',
  dataAt: null,
  reason: null,
  gapAt: null,
  nextAttemptAt: null,
};

export class ShownStatus {
  readonly #options: ShownStatusOptions;
  #heardAt: number | null = null;
  #nextAttemptAt: number | null = null;
  #gapAt: number | null = null;
  #sent: Pick<SentStatus, 'state' | 'reason'> = { state: 'connecting', reason: null };
  #shown: LiveStatus = NONE;

  constructor(options: ShownStatusOptions) {
    this.#options = options;
  }

  /** As of the last `renew`; the same object until it differs. */
  get shown(): LiveStatus {
    return this.#shown;
  }

  get state(): LiveState {
    return this.#sent.state;
  }

  /** By `performance.now`. */
  get heardAt(): number | null {
    return this.#heardAt;
  }

  /** Returns whether all is well again. */
  take({ state, reason, ageMs, nextInMs }: SentStatus): boolean {
    const now = performance.now();
    const wasLive = this.#sent.state === 'live';
    this.#sent = { state, reason };
    this.#heardAt = ageMs === null ? this.#heardAt : now - ageMs;
    const nextAttemptAt = nextInMs === null ? null : now + nextInMs;
    const isMoved = Math.abs((nextAttemptAt ?? 0) - (this.#nextAttemptAt ?? 0)) > NOISE_MS;
    this.#nextAttemptAt = nextAttemptAt;
    const dataAt = dateOf(this.#heardAt);
    const isLater = Math.abs((dataAt ?? 0) - (this.#shown.dataAt ?? 0)) >= DATA_AT_MS;
    const isNews = state !== this.#shown.state || this.#reason() !== this.#shown.reason;
    if (isNews || isMoved || isLater) this.#options.onChange();
    return state === 'live' && !wasLive;
  }

  /** The leader has brought events. */
  hear(): void {
    this.#heardAt = performance.now();
  }

  /** Everything is read again. */
  startAgain(isGap: boolean): void {
    this.hear();
    if (isGap) this.#gapAt = this.#heardAt;
    this.#options.onChange();
  }

  signOut(): void {
    this.#sent = { state: 'signed-out', reason: null };
    this.#options.onChange();
  }

  /** To be called now and then: a pause ends by time alone. */
  update(): void {
    if (this.#reason() !== this.#shown.reason) this.#options.onChange();
  }

  /** Whether the leader should have tried again long ago; true once for each attempt. */
  takeLate(): boolean {
    if (this.#nextAttemptAt === null || performance.now() - this.#nextAttemptAt <= LATE_MS) return false;
    this.#nextAttemptAt = null;
    return true;
  }

  renew(): void {
    const next: LiveStatus = {
      state: this.#sent.state,
      dataAt: dateOf(this.#heardAt),
      reason: this.#reason(),
      gapAt: dateOf(this.#gapAt),
      nextAttemptAt: dateOf(this.#nextAttemptAt),
    };
    const { state, reason } = this.#shown;
    const isMoved = (['dataAt', 'gapAt', 'nextAttemptAt'] as const).some(
      (name) => Math.abs((next[name] ?? 0) - (this.#shown[name] ?? 0)) > NOISE_MS,
    );
    if (isMoved || state !== next.state || reason !== next.reason) this.#shown = next;
  }

  #reason(): string | null {
    if (this.#sent.reason !== null) return this.#sent.reason;
    return this.#options.pausedMs() > 0 ? 'The service asks to wait: there were too many requests.' : null;
  }
}

/** By the service's clock, for people. */
const dateOf = (at: number | null): number | null =>
  at === null ? null : Math.round(serviceNow() - (performance.now() - at));
