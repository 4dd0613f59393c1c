/** Drafts by thread, and the stream that brings those of the thread in the focused tab. */
import type { Client, Draft } from '@headrace/client';
import type { Environment } from './environment.ts';
import { feedOf } from './lanes.ts';
import type { LiveEvent, LiveThread } from './lanes.ts';
import { withLock } from './lock.ts';

const ENDED = 200;
const RUN_END = /^run\.(completed|failed|cancelled)$/;

export class Drafts {
  readonly #byThread = new Map<string, Draft>();
  /** Messages whose drafts are over, the newest last: a late frame must not bring one back. */
  readonly #ended = new Set<string>();

  get(threadId: string): Draft | null {
    return this.#byThread.get(threadId) ?? null;
  }

  /** Returns whether it is news: a draft never goes back to an older revision. */
  show(draft: Draft): boolean {
    const shown = this.get(draft.threadId);
    if (shown?.messageId === draft.messageId && shown.revision >= draft.revision) return false;
    if (this.#ended.has(draft.messageId)) return false;
    this.#byThread.set(draft.threadId, draft);
    return true;
  }

  remove(threadId: string, messageId: string): boolean {
    return this.get(threadId)?.messageId === messageId && this.#byThread.delete(threadId);
  }

  /** The message itself replaces its draft, and the end of a run ends it. */
  removeEnded(events: readonly LiveEvent[]): boolean {
    let isChanged = false;
    for (const { type, threadId, runId, data } of events) {
      if (type === 'message.persisted' && data.id !== undefined) this.#end(data.id);
      const draft = threadId === null ? null : this.get(threadId);
      const isOver =
        (type === 'message.persisted' && data.id === draft?.messageId) ||
        (RUN_END.test(type) && runId === draft?.runId);
      if (draft && isOver) isChanged = this.remove(draft.threadId, draft.messageId) || isChanged;
    }
    return isChanged;
  }

  #end(messageId: string): void {
    this.#ended.add(messageId);
    if (this.#ended.size > ENDED) this.#ended.delete(this.#ended.values().next().value!);
  }
}

export interface DraftReaderOptions {
  client: Client;
  environment: Environment;
  lockName: string;
  onDraft(draft: Draft): void;
  onRemoved(threadId: string, messageId: string): void;
}

/** At most one stream in all tabs: the tab that comes to the front takes it, and a hidden one gives it up. */
export class DraftReader {
  readonly #options: DraftReaderOptions;
  #watched: LiveThread[] = [];
  #reading: { thread: LiveThread; end: AbortController; isHolding: boolean } | null = null;
  #wasFocused = false;
  #isStopped = false;

  constructor(options: DraftReaderOptions) {
    this.#options = options;
  }

  /** The thread that was watched last is the one that is read. */
  watch(thread: LiveThread): () => void {
    this.#watched.push(thread);
    this.update();
    return () => {
      this.#watched = this.#watched.filter((one) => one !== thread);
      this.update();
    };
  }

  /** To be called when the tab is shown, hidden, or comes to the front. */
  update(): void {
    const { environment } = this.#options;
    const isFocused = environment.isVisible() && environment.isFocused();
    const isFront = isFocused && !this.#wasFocused;
    this.#wasFocused = isFocused;
    const mayRead = environment.locks ? environment.isVisible() : isFocused;
    const thread = (!this.#isStopped && mayRead && this.#watched.at(-1)) || null;
    const isSame = thread?.threadId === this.#reading?.thread.threadId;
    if (isSame && (!this.#reading || this.#reading.isHolding || !isFront)) return;
    this.#end();
    if (thread) void this.#begin(thread, isFocused);
  }

  stop(): void {
    this.#isStopped = true;
    this.#end();
  }

  #end(): void {
    this.#reading?.end.abort(new Error('the reader has ended'));
    this.#reading = null;
  }

  async #begin(thread: LiveThread, steal: boolean): Promise<void> {
    const reading = { thread, end: new AbortController(), isHolding: false };
    this.#reading = reading;
    const { environment, lockName } = this.#options;
    const { signal } = reading.end;
    const work = async (held: AbortSignal) => {
      reading.isHolding = true;
      await this.#read(thread, held);
      // It keeps the lock until another thread is shown: a thread that is gone has no drafts.
      if (!held.aborted) await new Promise((resolve) => held.addEventListener('abort', resolve));
    };
    if (!environment.locks) return work(signal);
    const outcome = await withLock(environment.locks, { name: lockName, steal, signal }, work).catch(
      () => 'done',
    );
    if (outcome === 'stolen' && this.#reading === reading) void this.#begin(thread, false);
  }

  async #read(thread: LiveThread, signal: AbortSignal): Promise<void> {
    const { client, onDraft, onRemoved } = this.#options;
    try {
      for await (const item of client.events.stream(feedOf(thread), { signal })) {
        if (signal.aborted) return;
        if (item.kind === 'draft') onDraft(item.draft);
        else if (item.kind === 'draft.removed') onRemoved(item.threadId, item.messageId);
      }
    } catch {
      // The thread or the session is gone; the feeds report what matters of that.
    }
  }
}
