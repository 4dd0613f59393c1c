/**
 * The draft on one stream of a thread.
 *
 *   nothing --draft--> shown --newer revision--> shown --its message is persisted--> nothing,
 *   `draft.removed` sent behind the message
 *                      shown --removed, and no message within two seconds--> nothing, `draft.removed` sent
 *
 * A draft and its message come by two ways: the message wins. Once it has passed, no draft of it is shown,
 * and the removal waits for it.
 */
import type { DraftRow, EventRow } from '../db/schema.ts';
import { sseFrame } from '../http/sse.ts';
import type { SseConnection } from '../http/sse.ts';
import type { DraftFeed } from './drafts.ts';

const MESSAGE_WAIT_MS = 2_000;
/** A reader that lags gets the newest draft when it has caught up; looked at so often. */
const CONGESTED_RETRY_MS = 200;

export class DraftShow {
  readonly #connection: SseConnection;
  #unsubscribe: () => void = () => {};
  #shown: { threadId: string; messageId: string; revision: number } | null = null;
  /** The last messages that passed: their drafts are over. */
  readonly #passed: string[] = [];
  #waiting: DraftRow | null = null;
  #retry: NodeJS.Timeout | undefined;
  #removal: NodeJS.Timeout | undefined;

  constructor(connection: SseConnection) {
    this.#connection = connection;
  }

  start(feed: { drafts: DraftFeed }, threadId: string): void {
    this.#unsubscribe = feed.drafts.subscribe(threadId, (draft) => this.#change(draft));
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
    if (this.#waiting?.message_id === messageId) this.#waiting = null;
    return this.#shown?.messageId === messageId ? this.#takeRemoved() : undefined;
  }

  #takeRemoved(): string {
    const { threadId, messageId } = this.#shown!;
    this.#shown = null;
    clearTimeout(this.#removal);
    return sseFrame('draft.removed', { threadId, messageId });
  }

  #change(draft: DraftRow): void {
    const isShown = this.#shown?.messageId === draft.message_id;
    if (draft.removed) {
      this.#waiting = null;
      if (isShown) this.#awaitMessage(draft.message_id);
      return;
    }
    if (this.#passed.includes(draft.message_id) || (isShown && draft.revision <= this.#shown!.revision))
      return;
    if (this.#connection.isCongested()) return this.#later(draft);
    if (this.#shown && !isShown) this.#connection.sendLive(this.#takeRemoved());
    this.#shown = { threadId: draft.thread_id, messageId: draft.message_id, revision: draft.revision };
    this.#connection.sendLive(
      sseFrame('draft', {
        threadId: draft.thread_id,
        messageId: draft.message_id,
        runId: draft.run_id,
        revision: draft.revision,
        content: draft.content,
      }),
    );
  }

  #awaitMessage(messageId: string): void {
    clearTimeout(this.#removal);
    this.#removal = setTimeout(() => {
      if (this.#shown?.messageId === messageId) this.#connection.sendLive(this.#takeRemoved());
    }, MESSAGE_WAIT_MS).unref();
  }

  #later(draft: DraftRow): void {
    this.#waiting = draft;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      const newest = this.#waiting;
      this.#waiting = null;
      if (newest) this.#change(newest);
    }, CONGESTED_RETRY_MS).unref();
  }
}
