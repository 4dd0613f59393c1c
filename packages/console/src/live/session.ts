/**
 * The live store of one tab. Tabs of one user and organization share their feeds:
 *
 *   follower --the lock is free, or its holder is frozen--> leader --the lock was stolen--> follower
 *   any --401--> signed out, until a new session is started
 *
 * Every batch of events names the cursor before it, so each tab notices what it has missed, and asks for it.
 */
import type { Draft } from '@headrace/client';
import type { QueryClient } from '@tanstack/react-query';
import { Budget } from './budget.ts';
import { DraftReader, Drafts } from './drafts.ts';
import type { Environment } from './environment.ts';
import type { Cursors, LiveEvent, LiveThread } from './lanes.ts';
import { Leader } from './leader.ts';
import type { Live, LiveOptions } from './live.ts';
import type { Message, SentStatus } from './messages.ts';
import { Office } from './office.ts';
import { Refetcher } from './refetch.ts';
import { ShownStatus } from './shown-status.ts';
import type { LiveStatus } from './state.ts';
import { Store } from './store.ts';

/** Silence of the leader, in ticks of a visible tab, before it is asked, and before it is replaced. */
const PING_TICKS = 3;
const STEAL_TICKS = 10;
const READY_MS = 2_000;

/** Where a session continues after the user has signed in again. */
const known = new WeakMap<QueryClient, Map<string, Cursors>>();

export class Session implements Live {
  readonly ready: Promise<void>;
  readonly #options: LiveOptions;
  readonly #environment: Environment;
  readonly #id = `tab_${Math.random().toString(36).slice(2)}`;
  readonly #name: string;
  readonly #channel: BroadcastChannel;
  readonly #budget = new Budget();
  readonly #status = new ShownStatus({
    pausedMs: () => this.#budget.pausedMs(performance.now()),
    onChange: () => this.#changed(),
  });
  readonly #refetcher: Refetcher;
  readonly #store: Store;
  readonly #drafts = new Drafts();
  readonly #draftReader: DraftReader;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #ends: (() => void)[] = [];
  /** Null where tabs cannot share: each leads. */
  readonly #office: Office | null;
  #isReady: () => void = () => {};
  #leader: Leader | null = null;
  #isSignedOut = false;
  #isVisible: boolean;
  #ticks = 0;
  #isAsking = false;
  #cancelFrame: (() => void) | null = null;

  constructor(options: LiveOptions, environment: Environment) {
    this.#options = options;
    this.#environment = environment;
    this.#isVisible = environment.isVisible();
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    const { userId, organizationId } = options.identity;
    // A tab that reads other feeds is of no use to this one.
    this.#name = `headrace:${organizationId}:${userId}:${options.lanes.join('+')}`;
    const cache = options.queries.getQueryCache();
    this.#refetcher = new Refetcher({
      cache,
      budget: this.#budget,
      isHeld: () => !this.#isVisible || this.#isSignedOut || this.#status.state === 'offline',
      onSpent: (cost) => this.#post({ kind: 'spent', cost }),
      onPaused: (ms) => this.pause(ms),
      onFetched: () => this.#endRecovery(),
      onUnauthorized: () => this.#signOut(true),
    });
    const { lanes } = options;
    const cursors = known.get(options.queries)?.get(this.#name) ?? {};
    this.#store = new Store({ cache, refetcher: this.#refetcher, environment, lanes, cursors });
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
    this.#office = environment.locks && this.#newOffice(environment.locks);
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
    if (Object.keys(cursors).length) this.#refetcher.markAllChanged();
    this.#hello();
    if (this.#office) void this.#office.campaign(false);
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
    return this.#status.shown;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watchThread(thread: LiveThread): () => void {
    return this.#draftReader.watch(thread);
  }

  draft(threadId: string): Draft | null {
    return this.#drafts.get(threadId);
  }

  onEvents(listener: (events: LiveEvent[]) => void): () => void {
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

  #newOffice(locks: Navigator['locks']): Office {
    return new Office({
      locks,
      name: `${this.#name}:leader`,
      signal: this.#end.signal,
      onTaken: () => {
        this.#lead();
        const leader = this.#leader;
        return () => {
          this.#ticks = 0;
          if (this.#leader === leader) this.#retire();
        };
      },
    });
  }

  #lead(): void {
    if (this.#leader || this.#isEnded()) return;
    this.#isAsking = false;
    this.#leader = new Leader({
      id: this.#id,
      client: this.#options.client,
      store: this.#store,
      isPolled: this.#environment.locks === null,
      isOnline: () => this.#environment.isOnline(),
      heardAt: this.#status.heardAt,
      post: (message) => this.#post(message),
      onBatch: () => this.#remember(),
      onRebase: (isGap) => this.#onRebase(isGap),
      onStatus: (status) => this.#take(status),
      onSignedOut: () => this.#signOut(true),
      onForbidden: () => this.#options.onForbidden(),
    });
  }

  #retire(): void {
    this.#leader?.stop();
    this.#leader = null;
  }

  #receive(message: Message): void {
    if (this.#isEnded()) return;
    const { kind } = message;
    if (kind === 'hello') this.#leader?.answer(message.tab, message.cursors);
    else if (kind === 'ping') this.#leader?.answer(null, {});
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
      if (!this.#store.hasAll(message.cursors)) this.#hello();
      return;
    }
    if (message.to !== undefined) this.#isAsking = false;
    if (message.kind === 'rebase') {
      this.#store.rebase(message);
      this.#isAsking = false;
      this.#onRebase(message.isGap);
    } else if (this.#store.receive(message)) {
      this.#status.hear();
      this.#remember();
    } else this.#hello();
  }

  /** Asks the leader for what this tab does not have. */
  #hello(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#post({ kind: 'hello', tab: this.#id, cursors: this.#store.cursors() });
  }

  #tick(): void {
    if (this.#isEnded()) return;
    this.#leader?.update();
    this.#endRecovery();
    this.#status.update();
    // An answer may have been lost with its leader.
    this.#isAsking = false;
    if (this.#leader || !this.#isVisible || !this.#office) return;
    this.#ticks++;
    if (this.#ticks >= STEAL_TICKS) {
      this.#ticks = 0;
      void this.#office.campaign(true);
    } else if (this.#ticks >= PING_TICKS) this.#post({ kind: 'ping' });
    if (this.#status.takeLate()) this.check();
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
    this.#status.startAgain(isGap);
    this.#remember();
    this.#endRecovery();
  }

  #endRecovery(): void {
    this.#leader?.endRecovery(!this.#isVisible || this.#refetcher.isSettled());
  }

  #remember(): void {
    const { queries, lanes } = this.#options;
    const cursors = this.#store.cursors();
    const ofQueries = known.get(queries) ?? new Map<string, Cursors>();
    known.set(queries, ofQueries.set(this.#name, cursors));
    if (lanes.every((lane) => cursors[lane] !== undefined)) this.#isReady();
  }

  #show(draft: Draft): void {
    if (this.#drafts.show(draft)) this.#changed();
  }

  #pause(ms: number): void {
    this.#budget.pause(performance.now(), ms);
    this.#changed();
  }

  #take(status: SentStatus): void {
    // What the other feed still brings is no sign that the session goes on.
    if (this.#isEnded()) return;
    if (this.#status.take(status)) this.#refetcher.forgive();
  }

  #signOut(isFirst: boolean): void {
    if (this.#isEnded()) return;
    this.#isSignedOut = true;
    this.#status.signOut();
    if (isFirst) this.#post({ kind: 'signed-out' });
    this.#quit();
    this.#options.onSignedOut();
  }

  /** Reads nothing any more; what is cached stays. */
  #quit(): void {
    this.#office?.leave();
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
      this.#status.renew();
      for (const listener of this.#listeners) listener();
    });
  }
}
