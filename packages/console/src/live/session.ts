/**
 * The live store of one tab. Tabs of one user and organization share a feed:
 *
 *   follower --the lock is free, or its holder is frozen--> leader --the lock was stolen--> follower
 *   any --401--> signed out, until a new session is started
 *
 * Every batch of events names the cursor before it, so each tab notices what it has missed, and asks for it.
 */
import type { Client, Draft, HeadraceEvent } from '@headrace/client';
import type { QueryClient } from '@tanstack/react-query';
import { serviceNow } from '../api/clock.ts';
import { Budget } from './budget.ts';
import { DraftReader, Drafts } from './drafts.ts';
import type { Environment } from './environment.ts';
import { Leader } from './leader.ts';
import { withLock } from './lock.ts';
import type { Message, SentStatus } from './messages.ts';
import { Refetcher } from './refetch.ts';
import type { LiveStatus } from './state.ts';
import { Store } from './store.ts';

export interface LiveOptions {
  client: Client;
  queries: QueryClient;
  identity: { userId: string; organizationId: string };
  onSignedOut(): void;
}

export interface Live {
  /** Resolves when the feed's position is known, at most two seconds later: what is read then is not read twice. */
  readonly ready: Promise<void>;
  stop(): void;
  /** The same object until something has changed. */
  status(): LiveStatus;
  /** Called when the status or a draft has changed. */
  subscribe(listener: () => void): () => void;
  /** Brings the drafts of a thread while the tab is shown; returns how to end it. */
  watchThread(appId: string, threadId: string): () => void;
  draft(threadId: string): Draft | null;
  /** Each event once, in order, once per frame. */
  onEvents(listener: (events: HeadraceEvent[]) => void): () => void;
  /** Connects now, unless the connection works. */
  check(): void;
  /** The service has answered 429: no tab refetches anything for that long. The client itself repeats the call. */
  pause(ms: number): void;
}

/** Silence of the leader, in ticks of a visible tab, before it is asked, and before it is replaced. */
const PING_TICKS = 3;
const STEAL_TICKS = 10;
/** How late a hidden leader's timer may be before it is asked to try again. */
const LATE_MS = 1_500;
const READY_MS = 2_000;
/** A status that differs only in the time of its data is shown this seldom. */
const DATA_AT_MS = 5_000;
/** The same moment, converted twice. */
const NOISE_MS = 100;

/** Where a session continues after the user has signed in again. */
const cursors = new WeakMap<QueryClient, Map<string, string>>();

export class Session implements Live {
  readonly ready: Promise<void>;
  readonly #options: LiveOptions;
  readonly #environment: Environment;
  readonly #id = `tab_${Math.random().toString(36).slice(2)}`;
  readonly #name: string;
  readonly #channel: BroadcastChannel;
  readonly #budget = new Budget();
  readonly #refetcher: Refetcher;
  readonly #store: Store;
  readonly #drafts = new Drafts();
  readonly #draftReader: DraftReader;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #ends: (() => void)[] = [];
  #isReady: () => void = () => {};
  #waiting: AbortController | null = null;
  #leader: Leader | null = null;
  #isSignedOut = false;
  #isVisible: boolean;
  #ticks = 0;
  #isAsking = false;
  #heardAt: number | null = null;
  #nextAttemptAt: number | null = null;
  #gapAt: number | null = null;
  #sent: Pick<SentStatus, 'state' | 'reason'> = { state: 'connecting', reason: null };
  #status: LiveStatus = { state: 'connecting', dataAt: null, reason: null, gapAt: null, nextAttemptAt: null };
  #cancelFrame: (() => void) | null = null;

  constructor(options: LiveOptions, environment: Environment) {
    this.#options = options;
    this.#environment = environment;
    this.#isVisible = environment.isVisible();
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    const { userId, organizationId } = options.identity;
    this.#name = `headrace:${organizationId}:${userId}`;
    const cache = options.queries.getQueryCache();
    this.#refetcher = new Refetcher({
      cache,
      budget: this.#budget,
      isHeld: () => !this.#isVisible || this.#isSignedOut || this.#sent.state === 'offline',
      onSpent: (cost) => this.#post({ kind: 'spent', cost }),
      onPaused: (ms) => this.pause(ms),
      onFetched: () => this.#endRecovery(),
      onUnauthorized: () => this.#signOut(true),
    });
    const cursor = cursors.get(options.queries)?.get(this.#name) ?? null;
    this.#store = new Store({ cache, refetcher: this.#refetcher, environment, cursor });
    this.#ends.push(
      this.#store.onEvents((events) => {
        if (this.#drafts.removeEnded(events)) this.#changed();
      }),
    );
    this.#draftReader = new DraftReader({
      client: options.client,
      environment,
      lockName: `${this.#name}:drafts`,
      onDraft: (draft) => {
        this.#post({ kind: 'draft', draft });
        this.#show(draft);
      },
      onRemoved: (threadId, messageId) => {
        this.#post({ kind: 'draft.removed', threadId, messageId });
        if (this.#drafts.remove(threadId, messageId)) this.#changed();
      },
    });
    this.#channel = environment.openChannel(this.#name);
    const receive = ({ data }: MessageEvent) => this.#receive(data as Message);
    this.#channel.addEventListener('message', receive);
    const tick = setInterval(() => this.#tick(), environment.tickMs);
    const late = setTimeout(() => this.#isReady(), READY_MS);
    this.#ends.push(
      () => this.#channel.removeEventListener('message', receive),
      () => clearInterval(tick),
      () => clearTimeout(late),
      environment.listen(() => this.#onEnvironment()),
    );
    // What was fetched in an earlier session may have changed while its events were not applied yet.
    if (cursor !== null) this.#refetcher.markAllChanged();
    this.#hello();
    if (environment.locks) void this.#campaign(false);
    else if (this.#isVisible) this.#lead();
  }

  stop(): void {
    this.#end.abort(new Error('the session has ended'));
    for (const end of this.#ends) end();
    this.#quit();
    this.#cancelFrame?.();
    this.#channel.close();
    this.#listeners.clear();
    this.#isReady();
  }

  status(): LiveStatus {
    return this.#status;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watchThread(appId: string, threadId: string): () => void {
    return this.#draftReader.watch({ appId, threadId });
  }

  draft(threadId: string): Draft | null {
    return this.#drafts.get(threadId);
  }

  onEvents(listener: (events: HeadraceEvent[]) => void): () => void {
    return this.#store.onEvents(listener);
  }

  check(): void {
    if (this.#leader) this.#leader.check();
    else this.#post({ kind: 'check' });
  }

  pause(ms: number): void {
    this.#post({ kind: 'paused', ms });
    this.#pause(ms);
  }

  /** Waits for the lock, or takes it; leads while it has it. */
  async #campaign(steal: boolean): Promise<void> {
    this.#waiting?.abort(new Error('the lock is stolen instead'));
    const waiting = new AbortController();
    this.#waiting = waiting;
    const signal = AbortSignal.any([waiting.signal, this.#end.signal]);
    const lock = { name: `${this.#name}:leader`, steal, signal };
    const outcome = await withLock(this.#environment.locks!, lock, async (held) => {
      this.#lead();
      const leader = this.#leader;
      await new Promise<void>((resolve) => {
        held.addEventListener('abort', () => resolve(), { once: true });
      });
      if (this.#leader === leader) this.#retire();
    }).catch(() => 'done' as const);
    if (outcome === 'stolen' && !this.#isEnded()) {
      this.#ticks = 0;
      void this.#campaign(false);
    }
  }

  #lead(): void {
    if (this.#leader || this.#isEnded()) return;
    this.#isAsking = false;
    // A feed of repositories and pull requests would be another leader beside this one, under this lock.
    this.#leader = new Leader({
      id: this.#id,
      client: this.#options.client,
      store: this.#store,
      isPolled: this.#environment.locks === null,
      isOnline: () => this.#environment.isOnline(),
      heardAt: this.#heardAt,
      post: (message) => this.#post(message),
      onBatch: () => this.#remember(),
      onRebase: (isGap) => this.#onRebase(isGap),
      onStatus: (status) => this.#take(status),
      onSignedOut: () => this.#signOut(true),
    });
  }

  #retire(): void {
    this.#leader?.stop();
    this.#leader = null;
  }

  #receive(message: Message): void {
    if (this.#isEnded()) return;
    const { kind } = message;
    if (kind === 'hello') this.#leader?.answer(message.tab, message.cursor);
    else if (kind === 'ping') this.#leader?.answer(null, null);
    else if (kind === 'check') this.#leader?.check();
    else if (kind === 'draft') this.#show(message.draft);
    else if (kind === 'draft.removed') {
      if (this.#drafts.remove(message.threadId, message.messageId)) this.#changed();
    } else if (kind === 'spent') this.#budget.spend(performance.now(), message.cost);
    else if (kind === 'paused') this.#pause(message.ms);
    else if (kind === 'signed-out') this.#signOut(false);
    // Each tab that polls is its own leader.
    else if (this.#environment.locks) this.#follow(message);
  }

  /** A leader that has just lost its lock may still speak: what it brings are events all the same. */
  #follow(message: Extract<Message, { leader: string }>): void {
    this.#ticks = 0;
    if (this.#leader || ('to' in message && message.to !== undefined && message.to !== this.#id)) return;
    if (message.kind === 'alive') {
      this.#take(message.status);
      if (message.cursor !== null && !this.#store.recent.has(message.cursor)) this.#hello();
      return;
    }
    if (message.to !== undefined) this.#isAsking = false;
    if (message.kind === 'rebase') {
      this.#store.rebase(message.cursor, message.isNewHistory);
      this.#isAsking = false;
      this.#onRebase(message.isGap);
    } else if (this.#store.receive(message)) {
      this.#heardAt = performance.now();
      this.#remember();
    } else this.#hello();
  }

  /** Asks the leader for what this tab does not have. */
  #hello(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#post({ kind: 'hello', tab: this.#id, cursor: this.#store.cursor });
  }

  #tick(): void {
    if (this.#isEnded()) return;
    this.#leader?.update();
    this.#endRecovery();
    // A pause ends by time alone.
    if (this.#reason() !== this.#status.reason) this.#changed();
    // An answer may have been lost with its leader.
    this.#isAsking = false;
    if (this.#leader || !this.#isVisible || !this.#environment.locks) return;
    this.#ticks++;
    if (this.#ticks >= STEAL_TICKS) {
      this.#ticks = 0;
      void this.#campaign(true);
    } else if (this.#ticks >= PING_TICKS) this.#post({ kind: 'ping' });
    if (this.#nextAttemptAt !== null && performance.now() - this.#nextAttemptAt > LATE_MS) {
      this.#nextAttemptAt = null;
      this.check();
    }
  }

  #onEnvironment(): void {
    if (this.#isEnded()) return;
    const wasVisible = this.#isVisible;
    this.#isVisible = this.#environment.isVisible();
    this.#leader?.changeNetwork();
    this.#draftReader.update();
    if (this.#isVisible === wasVisible) return;
    this.#ticks = 0;
    if (!this.#environment.locks) {
      if (this.#isVisible) this.#lead();
      else this.#retire();
    }
    if (!this.#isVisible) return;
    if (this.#environment.locks) this.check();
    this.#refetcher.run();
  }

  #onRebase(isGap: boolean): void {
    const now = performance.now();
    if (isGap) this.#gapAt = now;
    this.#heardAt = now;
    this.#remember();
    this.#changed();
    this.#endRecovery();
  }

  #endRecovery(): void {
    this.#leader?.endRecovery(!this.#isVisible || this.#refetcher.isSettled());
  }

  #remember(): void {
    const { cursor } = this.#store;
    if (cursor === null) return;
    const known = cursors.get(this.#options.queries) ?? new Map<string, string>();
    cursors.set(this.#options.queries, known.set(this.#name, cursor));
    this.#isReady();
  }

  #show(draft: Draft): void {
    if (this.#drafts.show(draft)) this.#changed();
  }

  #pause(ms: number): void {
    this.#budget.pause(performance.now(), ms);
    this.#changed();
  }

  #take({ state, reason, ageMs, nextInMs }: SentStatus): void {
    const now = performance.now();
    const wasLive = this.#sent.state === 'live';
    this.#sent = { state, reason };
    this.#heardAt = ageMs === null ? this.#heardAt : now - ageMs;
    const nextAttemptAt = nextInMs === null ? null : now + nextInMs;
    const isMoved = Math.abs((nextAttemptAt ?? 0) - (this.#nextAttemptAt ?? 0)) > NOISE_MS;
    this.#nextAttemptAt = nextAttemptAt;
    const dataAt = this.#dateOf(this.#heardAt);
    const isLater = Math.abs((dataAt ?? 0) - (this.#status.dataAt ?? 0)) >= DATA_AT_MS;
    const isNews = state !== this.#status.state || this.#reason() !== this.#status.reason;
    if (isNews || isMoved || isLater) this.#changed();
    if (state === 'live' && !wasLive) this.#refetcher.forgive();
  }

  #signOut(isFirst: boolean): void {
    if (this.#isEnded()) return;
    this.#isSignedOut = true;
    this.#sent = { state: 'signed-out', reason: null };
    if (isFirst) this.#post({ kind: 'signed-out' });
    this.#quit();
    this.#changed();
    this.#options.onSignedOut();
  }

  /** Reads nothing any more; what is cached stays. */
  #quit(): void {
    this.#waiting?.abort(new Error('the session has ended'));
    this.#retire();
    this.#draftReader.stop();
    this.#store.stop();
    this.#refetcher.stop();
  }

  #isEnded(): boolean {
    return this.#isSignedOut || this.#end.signal.aborted;
  }

  #post(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
    if (!this.#end.signal.aborted) this.#channel.postMessage(message);
  }

  /** Once per frame: drafts come ten times a second from each stream. */
  #changed(): void {
    if (this.#end.signal.aborted) return;
    this.#cancelFrame ??= this.#environment.atFrame(() => {
      this.#cancelFrame = null;
      this.#renew();
      for (const listener of this.#listeners) listener();
    });
  }

  #renew(): void {
    const next: LiveStatus = {
      state: this.#sent.state,
      dataAt: this.#dateOf(this.#heardAt),
      reason: this.#reason(),
      gapAt: this.#dateOf(this.#gapAt),
      nextAttemptAt: this.#dateOf(this.#nextAttemptAt),
    };
    const { state, reason } = this.#status;
    const isMoved = (['dataAt', 'gapAt', 'nextAttemptAt'] as const).some(
      (name) => Math.abs((next[name] ?? 0) - (this.#status[name] ?? 0)) > NOISE_MS,
    );
    if (isMoved || state !== next.state || reason !== next.reason) this.#status = next;
  }

  #reason(): string | null {
    if (this.#sent.reason !== null) return this.#sent.reason;
    const isPaused = this.#budget.pausedMs(performance.now()) > 0;
    return isPaused ? 'The service asks to wait: there were too many requests.' : null;
  }

  /** By the service's clock, for people. */
  #dateOf(at: number | null): number | null {
    return at === null ? null : Math.round(serviceNow() - (performance.now() - at));
  }
}
