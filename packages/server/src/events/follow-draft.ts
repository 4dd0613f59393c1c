/**
 * The draft of one run, read from the journal at its runner for all streams of this process that show it:
 *
 *   reading   the journal has ended               read: its last text stands until the run ends
 *   reading   the task is not there yet, or the   reading again, after a pause that grows with the time
 *             connection broke
 *   reading   no attempt worked for ten minutes   given up
 *   any       `stop`: the run has ended, or       stopped
 *             nobody listens
 *
 * A draft has no guarantee: where the runner cannot be reached there is none, and the log has what counts.
 */
import type { RunnerClient } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import { shownPart } from './draft.ts';
import type { Draft } from './draft.ts';
import type { DraftRun } from './store.ts';

/** Where a thread's work is: at the runner, or the host, that its row names. */
export type RunnerOf = (threadId: string) => Promise<{ runner: Pick<RunnerClient, 'journal'> }>;

const SHORTEST_PAUSE_MS = 50,
  LONGEST_PAUSE_MS = 1_000;
const GIVEN_UP_MS = 10 * 60_000;
/** An attempt that lasted so long has worked: one at a runner that does not answer is over after 20 seconds. */
const WORKED_MS = 60_000;

interface FollowOptions {
  log: Context['log'];
  runnerOf: RunnerOf;
  run: DraftRun;
  onDraft(this: void, draft: Draft): void;
  onGivenUp(this: void): void;
}

export class FollowedDraft {
  readonly run: DraftRun;
  /** The newest text so far. */
  current: Draft | null = null;
  readonly #options: FollowOptions;
  readonly #stopped = new AbortController();
  #next = 0;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.run = options.run;
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    let failingSince = performance.now();
    for (;;) {
      const [began, from] = [performance.now(), this.#next];
      try {
        if (await this.#read()) return;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.debug({ err: error, run: this.run.id }, 'a draft could not be read');
      }
      const now = performance.now();
      if (this.#next > from || now - began > WORKED_MS) failingSince = now;
      const failingMs = now - failingSince;
      if (failingMs > GIVEN_UP_MS) return this.#options.onGivenUp();
      await pause(Math.min(Math.max(failingMs / 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
      if (signal.aborted) return;
    }
  }

  /** Whether the journal has ended. */
  async #read(): Promise<boolean> {
    const { signal } = this.#stopped;
    const { runner } = await this.#options.runnerOf(this.run.threadId);
    for await (const entry of runner.journal(this.run.id, this.#next, signal, 'draft')) {
      if (signal.aborted) return true;
      this.#next = entry.offset + 1;
      if (entry.type === 'end') return true;
      if (entry.type === 'text') this.#show(entry.content, entry.offset);
    }
    return false;
  }

  #show(text: string, revision: number): void {
    const { id: runId, threadId, messageId } = this.run;
    this.current = { threadId, messageId, runId, revision, content: shownPart(text) };
    this.#options.onDraft(this.current);
  }
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
