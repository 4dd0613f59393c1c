/**
 * The draft on one stream of a thread.
 *
 *   nothing --draft--> shown --newer revision--> shown --its message is persisted--> nothing,
 *   `draft.removed` sent behind the message
 *                      shown --its run ends, and no message within two seconds--> nothing, `draft.removed` sent
 *
 * A draft comes from its runner and its message by the log: the message wins. Once it has passed, no draft of it is
 * shown, and the removal waits for it.
 */
import type { EventRow } from '../db/schema.ts';
import { sseFrame } from '../http/sse.ts';
import type { SseConnection } from '../http/sse.ts';
import type { Draft } from './draft.ts';
import type { DraftFeed } from './drafts.ts';

const MESSAGE_WAIT_MS = 2_000;
/** A reader that lags gets the newest draft when it has caught up; looked at so often. */
const CONGESTED_RETRY_MS = 200;

export class DraftShow {
  readonly #connection: SseConnection;
  #unsubscribe: () => void = () => {};
  #shown: Draft | null = null;
  /** The last messages that passed: their drafts are over. */
  readonly #passed: string[] = [];
  #waiting: Draft | null = null;
  #retry: NodeJS.Timeout | undefined;
  #removal: NodeJS.Timeout | undefined;

  constructor(connection: SseConnection) {
    this.#connection = connection;
  }

  start(feed: { drafts: DraftFeed }, threadId: string): void {
    this.#unsubscribe = feed.drafts.subscribe(threadId, {
      show: (draft) => this.#show(draft),
      end: (runId) => this.#end(runId),
    });
  }

  stop(): void {
    this.#unsubscribe();
    clearTimeout(this.#retry);
    clearTimeout(this.#removal);
  }

  /** Call it for each event of the thread, in order; returns the frame that follows the event. */
  supersede(event: EventRow): string | undefined {
    if (event.type !== 'message.persisted') return undefined;
    const messageId = event.data.id as string;
    this.#passed.push(messageId);
    if (this.#passed.length > 32) this.#passed.shift();
    if (this.#waiting?.messageId === messageId) this.#waiting = null;
    return this.#shown?.messageId === messageId ? this.#takeRemoved() : undefined;
  }

  #takeRemoved(): string {
    const { threadId, messageId } = this.#shown!;
    this.#shown = null;
    clearTimeout(this.#removal);
    return sseFrame('draft.removed', { threadId, messageId });
  }

  #show(draft: Draft): void {
    const isShown = this.#shown?.messageId === draft.messageId;
    if (this.#passed.includes(draft.messageId) || (isShown && draft.revision <= this.#shown!.revision))
      return;
    if (this.#connection.isCongested()) return this.#later(draft);
    this.#waiting = null;
    if (this.#shown && !isShown) this.#connection.sendLive(this.#takeRemoved());
    this.#shown = draft;
    this.#connection.sendLive(sseFrame('draft', draft));
  }

  #end(runId: string): void {
    if (this.#waiting?.runId === runId) this.#waiting = null;
    if (this.#shown?.runId === runId) this.#awaitMessage(this.#shown.messageId);
  }

  #awaitMessage(messageId: string): void {
    clearTimeout(this.#removal);
    this.#removal = setTimeout(() => {
      if (this.#shown?.messageId === messageId) this.#connection.sendLive(this.#takeRemoved());
    }, MESSAGE_WAIT_MS).unref();
  }

  #later(draft: Draft): void {
    this.#waiting = draft;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      const newest = this.#waiting;
      this.#waiting = null;
      if (newest) this.#show(newest);
    }, CONGESTED_RETRY_MS).unref();
  }
}
