/**
 * The replies as they grow, beside the log and never in the database: each API process reads the journals of those runs
 * whose threads its streams show (follow-draft.ts).
 *
 *   listened to --a look finds an active run, or `run.running` is on the log--> followed
 *   followed --the run's end is on the log--> listened to
 *   followed --nobody listens--> closed
 *
 * A listener gets a run's draft only after a look that began behind its subscription has found the run active: so its
 * message, which supersedes the draft, is still to come on the listener's log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { EventRow } from '../db/schema.ts';
import type { Draft } from './draft.ts';
import { FollowedDraft } from './follow-draft.ts';
import type { RunnerOf } from './follow-draft.ts';
import { findDraftRun } from './store.ts';
import type { DraftRun } from './store.ts';
import type { Tail } from './tail.ts';

export interface DraftListener {
  /** A newer text, or the first one of another run. */
  show(this: void, draft: Draft): void;
  /** The run has ended: if it has a message, that is on the log. */
  end(this: void, runId: string): void;
}

export interface DraftFeed {
  /** Returns the function that ends it. */
  subscribe(threadId: string, listener: DraftListener): () => void;
  stop(): void;
}

/** A look that fails, because the database is away, is repeated. */
const LOOKS = 20;
const LOOK_AGAIN_MS = 1_000;
const ENDS: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.cancelled']);

/** A thread that streams of this process show. */
class ShownThread {
  readonly listeners = new Set<DraftListener>();
  followed: FollowedDraft | null = null;
  /** Those that get the drafts of the followed run. */
  readonly admitted = new Set<DraftListener>();
  isLooking = false;
  lookAgain = false;
  /** Runs whose end came during the look under way, which may still have found them active. */
  readonly ended = new Set<string>();

  /** No draft comes from the followed run any more. */
  leave(): void {
    this.followed?.stop();
    this.followed = null;
    this.admitted.clear();
  }
}

export function startDraftFeed(
  ctx: Pick<Context, 'db' | 'log'>,
  tail: Pick<Tail, 'subscribe'>,
  runnerOf: RunnerOf,
): DraftFeed {
  const threads = new Map<string, ShownThread>();

  async function look(threadId: string, thread: ShownThread): Promise<void> {
    thread.lookAgain = true;
    if (thread.isLooking) return;
    thread.isLooking = true;
    for (let failures = 0; thread.lookAgain && failures < LOOKS;) {
      thread.lookAgain = false;
      thread.ended.clear();
      const listeners = [...thread.listeners];
      try {
        const run = await findDraftRun(ctx.db, threadId);
        if (run && !thread.ended.has(run.id)) admit(thread, run, listeners);
      } catch (error) {
        ctx.log.debug({ err: error }, 'the run of a draft could not be read');
        failures++;
        thread.lookAgain = true;
        await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
      }
      thread.lookAgain &&= thread.listeners.size > 0;
    }
    thread.isLooking = false;
  }

  function admit(thread: ShownThread, run: DraftRun, listeners: DraftListener[]): void {
    const waiting = listeners.filter((listener) => thread.listeners.has(listener));
    if (!waiting.length) return;
    if (thread.followed?.run.id !== run.id) {
      thread.leave();
      thread.followed = follow(thread, run);
    }
    const { current } = thread.followed;
    for (const listener of waiting) {
      if (thread.admitted.has(listener)) continue;
      thread.admitted.add(listener);
      if (current) listener.show(current);
    }
  }

  const follow = (thread: ShownThread, run: DraftRun): FollowedDraft =>
    new FollowedDraft({
      log: ctx.log,
      runnerOf,
      run,
      onDraft(draft) {
        for (const listener of thread.admitted) listener.show(draft);
      },
      onGivenUp: () => thread.leave(),
    });

  function arrive(event: EventRow): void {
    const thread = event.thread_id === null ? undefined : threads.get(event.thread_id);
    const runId = event.run_id;
    if (!thread || runId === null) return;
    if (event.type === 'run.running' && thread.followed?.run.id !== runId)
      void look(event.thread_id!, thread);
    else if (ENDS.has(event.type)) {
      thread.ended.add(runId);
      if (thread.followed?.run.id === runId) thread.leave();
      for (const listener of thread.listeners) listener.end(runId);
    }
  }

  const unsubscribe = tail.subscribe((events) => {
    if (threads.size) for (const event of events) arrive(event);
  });
  return {
    subscribe(threadId, listener) {
      const thread = threads.get(threadId) ?? new ShownThread();
      threads.set(threadId, thread);
      thread.listeners.add(listener);
      void look(threadId, thread);
      return () => {
        thread.listeners.delete(listener);
        thread.admitted.delete(listener);
        if (thread.listeners.size) return;
        thread.leave();
        if (threads.get(threadId) === thread) threads.delete(threadId);
      };
    },
    stop() {
      unsubscribe();
      for (const thread of threads.values()) thread.leave();
    },
  };
}
