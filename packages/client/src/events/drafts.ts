/**
 * The draft that a stream shows, across its connections: the service removes only drafts that it showed on the
 * same connection. Each draft is removed once, at the latest after its message or the end of its run.
 */
import type { HeadraceEvent } from '../generated/types.ts';

/** The reply in progress; a newer revision replaces it. */
export interface Draft {
  threadId: string;
  /** The message's id, once it is persisted. */
  messageId: string;
  runId: string;
  revision: number;
  /** The whole text so far. */
  content: string;
}

const RUN_END = /^run\.(completed|failed|cancelled)$/;

export class ShownDraft {
  #shown: Draft | null = null;

  /** Whether the draft differs from the one that is shown. */
  show(draft: Draft): boolean {
    const isSame = this.#shown?.messageId === draft.messageId && this.#shown.revision === draft.revision;
    this.#shown = draft;
    return !isSame;
  }

  /** The draft that ends when the draft of another message is shown. */
  replacedBy({ messageId }: Draft): Draft | null {
    return this.#shown && this.#shown.messageId !== messageId ? this.take() : null;
  }

  /** The draft that ends with an event. */
  endedBy({ type, data, runId }: HeadraceEvent): Draft | null {
    if (!this.#shown) return null;
    const isOver =
      (type === 'message.persisted' && data.id === this.#shown.messageId) ||
      (RUN_END.test(type) && runId === this.#shown.runId);
    return isOver ? this.take() : null;
  }

  isShown(messageId: string): boolean {
    return this.#shown?.messageId === messageId;
  }

  take(): Draft | null {
    const draft = this.#shown;
    this.#shown = null;
    return draft;
  }
}
