/**
 * The reply as it grows, apart from the log: one row a thread in an unlogged table, a hint on the bus for
 * each change.
 *
 *   (none) --putDraft--> shown, revision 1 --putDraft--> revision + 1 --removeDraft--> removed --putDraft
 *   of another message--> revision 1
 *
 * A removed draft stays as a row, so that a late write of the same message changes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { DraftRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { findDraft, markDraftRemoved, upsertDraft } from './store.ts';

export interface Draft {
  orgId: string;
  threadId: string;
  /** The id that the message will have once it is persisted. */
  messageId: string;
  runId: string;
  /**
   * The whole text so far; shown are its first 100,000 code points, as many as a message that is sent may
   * have.
   */
  content: string;
}

type Deps = Pick<Context, 'db' | 'bus' | 'log'>;

/** At most ten revisions a second and thread. */
const INTERVAL_MS = 100;
/** Each revision is the whole text, stored and sent to each reader ten times a second. */
const CONTENT_CODE_POINTS = 100_000;
/** The next revision of each thread that waits for its turn; null while none does. */
const turns = new Map<string, { next: Draft | null }>();

function cut(text: string): string {
  if (text.length <= CONTENT_CODE_POINTS) return text;
  let end = 0;
  for (let count = 0; count < CONTENT_CODE_POINTS && end < text.length; count++)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

async function storeDraft(ctx: Deps, draft: Draft): Promise<void> {
  await upsertDraft(ctx.db, {
    thread_id: draft.threadId,
    org_id: draft.orgId,
    message_id: draft.messageId,
    run_id: draft.runId,
    revision: 1,
    content: clean(cut(draft.content)),
  });
  ctx.bus.notify('drafts', draft.threadId);
}

/**
 * Shows the newest text of the reply. Returns at once; of texts that come faster than ten a second the last
 * one counts. A failure is logged: a draft has no guarantee.
 */
export function putDraft(ctx: Deps, draft: Draft): void {
  const turn = turns.get(draft.threadId);
  if (turn) {
    turn.next = draft;
    return;
  }
  turns.set(draft.threadId, { next: null });
  void takeTurn(ctx, draft);
}

async function takeTurn(ctx: Deps, draft: Draft): Promise<void> {
  const interval = sleep(INTERVAL_MS, undefined, { ref: false });
  await storeDraft(ctx, draft).catch((error: unknown) =>
    ctx.log.debug({ err: error }, 'a draft was not stored'),
  );
  await interval;
  const { next } = turns.get(draft.threadId)!;
  turns.delete(draft.threadId);
  if (next) putDraft(ctx, next);
}

/**
 * Ends the draft in the transaction that persists its message. Streams send `draft.removed` behind that
 * message.
 */
export async function removeDraft(tx: Tx, threadId: string): Promise<void> {
  await markDraftRemoved(tx, threadId);
  tx.wake('drafts', threadId);
}

type Listener = (draft: DraftRow) => void;

export interface DraftFeed {
  /**
   * `listener` gets the thread's current draft, and the draft after each change. Returns the function that
   * ends it.
   */
  subscribe(threadId: string, listener: Listener): () => void;
  stop(): void;
}

/** Reads a changed draft once for all streams of this process that show it. */
export function startDraftFeed(ctx: Deps): DraftFeed {
  const threads = new Map<string, { listeners: Set<Listener>; isLoading: boolean; loadAgain: boolean }>();

  async function load(threadId: string): Promise<void> {
    const thread = threads.get(threadId);
    if (!thread) return;
    if (thread.isLoading) {
      thread.loadAgain = true;
      return;
    }
    thread.isLoading = true;
    try {
      do {
        thread.loadAgain = false;
        // A listener that subscribes during this read may already have the message that supersedes its draft:
        // the next read is for it.
        const listeners = [...thread.listeners];
        const draft = await findDraft(ctx.db, threadId);
        if (draft) for (const listener of listeners) if (thread.listeners.has(listener)) listener(draft);
      } while (thread.loadAgain);
    } catch (error) {
      ctx.log.debug({ err: error }, 'a draft could not be read');
    } finally {
      thread.isLoading = false;
    }
  }

  const unlisten = ctx.bus.listen('drafts', (threadId) => void load(threadId));
  ctx.bus.onReconnect(() => {
    for (const threadId of threads.keys()) void load(threadId);
  });
  return {
    subscribe(threadId, listener) {
      const thread = threads.get(threadId) ?? { listeners: new Set(), isLoading: false, loadAgain: false };
      threads.set(threadId, thread);
      thread.listeners.add(listener);
      void load(threadId);
      return () => {
        thread.listeners.delete(listener);
        if (!thread.listeners.size) threads.delete(threadId);
      };
    },
    stop: unlisten,
  };
}
