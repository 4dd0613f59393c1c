/** The tab that reads the feeds, and tells the others. Only its messages change what they know of the service. */
import type { Client } from '@headrace/client';
import { Lane } from './lane.ts';
import type { Batch, Cursors, LaneName, Rebase } from './lanes.ts';
import type { Message, SentStatus } from './messages.ts';
import { stateOfAll } from './state.ts';
import type { Store } from './store.ts';

export interface LeaderOptions {
  id: string;
  client: Client;
  store: Store;
  /** By polls, and no other tab leads. */
  isPolled: boolean;
  isOnline(): boolean;
  /** When the data of the tab was last known to be true, before this tab led. */
  heardAt: number | null;
  post(message: Message): void;
  onBatch(): void;
  onRebase(isGap: boolean): void;
  onStatus(status: SentStatus): void;
  onSignedOut(): void;
  /** The user may no longer read one of the feeds. */
  onForbidden(): void;
}

export class Leader {
  readonly #options: LeaderOptions;
  readonly #lanes: Lane[];
  #last = '';

  constructor(options: LeaderOptions) {
    const { store, client, isPolled, isOnline, heardAt, onSignedOut, onForbidden } = options;
    this.#options = options;
    const shared = { client, isOnline, heardAt, onSignedOut, onForbidden };
    // A browser has six connections to a service, and each window leads: only one of its feeds may keep one.
    const polledAs = (at: number) => (at === 0 ? 'polled' : 'asked');
    this.#lanes = store.lanes.map(
      (name, at) =>
        new Lane({
          ...shared,
          name,
          read: isPolled ? polledAs(at) : 'streamed',
          cursor: () => store.cursorOf(name),
          onBatch: (batch) => this.#tell(batch),
          onRebase: (rebase) => this.#rebase(rebase),
          onChange: () => this.update(),
        }),
    );
    for (const lane of this.#lanes) lane.start();
    this.update();
  }

  /** Connects at once, unless the connections work or the service asks to wait. */
  check(): void {
    for (const lane of this.#lanes) lane.check();
    this.update();
  }

  /** To be called when the tab comes online or goes offline. */
  changeNetwork(): void {
    for (const lane of this.#lanes) lane.changeNetwork();
    this.update();
  }

  /** To be called when everything shown was read again. */
  endRecovery(isSettled: boolean): void {
    for (const lane of this.#lanes) lane.endRecovery(isSettled);
    this.update();
  }

  /** Answers a tab that has heard nothing, or that is new. */
  answer(tab: string | null, known: Cursors): void {
    for (const lane of this.#lanes) lane.flush();
    this.#sayAlive(this.#sentStatus());
    if (tab !== null) for (const name of this.#options.store.lanes) this.#repeat(tab, name, known[name]);
  }

  /** Tells the state if it has changed; to be called now and then, since it also changes by time alone. */
  update(): void {
    for (const lane of this.#lanes) lane.update();
    const status = this.#sentStatus();
    this.#options.onStatus(status);
    const attempts = this.#lanes.map(({ link }) => link.nextAttemptAt);
    const text = JSON.stringify([status.state, status.reason, attempts]);
    if (text === this.#last) return;
    this.#last = text;
    this.#sayAlive(status);
  }

  stop(): void {
    for (const lane of this.#lanes) lane.stop();
  }

  #sayAlive(status: SentStatus): void {
    const { id, store, post } = this.#options;
    post({ kind: 'alive', leader: id, cursors: store.cursors(), status });
  }

  /** Sends a tab what it does not know of a feed. */
  #repeat(to: string, lane: LaneName, after: string | undefined): void {
    const { id, store, post } = this.#options;
    const cursor = store.cursorOf(lane);
    if (cursor === null) return;
    const events = after === undefined ? null : store.eventsAfter(lane, after);
    if (events) post({ kind: 'events', leader: id, to, lane, after: after!, events, cursor });
    else post({ kind: 'rebase', leader: id, to, lane, cursor, isGap: false });
  }

  #sentStatus(): SentStatus {
    const now = performance.now();
    const links = this.#lanes.map(({ link }) => link);
    const heard = links.map(({ heardAt }) => heardAt);
    const attempts = links.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []);
    return {
      state: stateOfAll(links, now),
      // What is shown is as old as the feed that was heard of last.
      ageMs: heard.includes(null) ? null : now - Math.min(...(heard as number[])),
      nextInMs: attempts.length ? Math.max(0, Math.min(...attempts) - now) : null,
      reason: links.find(({ reason }) => reason !== null)?.reason ?? null,
    };
  }

  #tell(batch: Batch): void {
    const { id, store, post, onBatch } = this.#options;
    post({ kind: 'events', leader: id, ...batch });
    store.receive(batch);
    onBatch();
    this.update();
  }

  #rebase(rebase: Rebase): void {
    const { id, store, post, onRebase } = this.#options;
    post({ kind: 'rebase', leader: id, ...rebase });
    store.rebase(rebase);
    onRebase(rebase.isGap);
    this.update();
  }
}
