/**
 * Follows a thread for a person, a pipe or a script, until its run has ended, or it has nothing to do.
 *
 *   following --Ctrl-C--> leaving --2 s, or any other key--> left: the work goes on
 *   leaving --Ctrl-C or s--> stopping: the run is stopped, and followed to its end --Ctrl-C--> left
 *
 * Without a terminal, no key can be pressed again: the first Ctrl-C leaves.
 */
import { once } from 'node:events';
import { HeadraceError } from '@headrace/client';
import type { FollowItem, Message, ReaderState, Run, Thread } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { oneLine } from '../terminal/escape.ts';
import { Keyboard } from './keyboard.ts';
import { outputOf } from './output.ts';
import type { Output } from './output.ts';
import { withApp } from './place.ts';
import type { Place } from './place.ts';
import { isEnded } from './run-end.ts';

export interface FollowRequest {
  /** As `threads.follow` takes it. */
  from?: number | 'now';
  /** Ends with this run, not when the thread has nothing to do. */
  runId?: string;
  isVerbose: boolean;
  /** The command applies the change itself. */
  isApplied?: boolean;
  timeoutMs: number | undefined;
}

export interface Followed {
  /** `left`: the user did not wait for the end. */
  end: 'ended' | 'stopped' | 'left';
  /** As they were seen last, by id. */
  runs: ReadonlyMap<string, Run>;
  /** For the document of --json; empty without it: a thread may be long. */
  messages: readonly Message[];
  thread: Thread | undefined;
}

const AGAIN_MS = 2_000;
/** One lost connection is usual: a proxy's limit, a restart. */
const SAID_AT_ATTEMPT = 2;

export async function followThread(cli: Cli, place: Place, request: FollowRequest): Promise<Followed> {
  const following = new Following(cli, await withApp(cli, place), request);
  try {
    return await following.run();
  } finally {
    following.close();
  }
}

class Following {
  readonly #cli: Cli;
  readonly #place: Place;
  readonly #request: FollowRequest;
  readonly #output: Output;
  readonly #abort = new AbortController();
  readonly #runs = new Map<string, Run>();
  readonly #messages: Message[] = [];
  readonly #keyboard: Keyboard | undefined;
  readonly #release: () => void;
  #thread: Thread | undefined;
  #state: 'following' | 'leaving' | 'stopping' = 'following';
  #left: NodeJS.Timeout | undefined;
  #answering: string | undefined;
  #isAway = false;

  constructor(cli: Cli, place: Place, request: FollowRequest) {
    this.#cli = cli;
    this.#place = place;
    this.#request = request;
    this.#output = outputOf(cli, request);
    this.#release = cli.onInterrupt(() => this.#interrupt());
    if (this.#output.canAnswer) this.#keyboard = new Keyboard(cli.io, (key) => this.#press(key));
  }

  async run(): Promise<Followed> {
    const { from, runId, timeoutMs } = this.#request;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#abort.abort(LATE), timeoutMs);
    const { signal } = this.#abort;
    const { stdout } = this.#cli.io;
    const onState = (state: ReaderState) => this.#enter(state);
    try {
      const items = this.#place
        .of(this.#cli.client)
        .follow({ signal, onState, ...(from !== undefined && { from }) });
      for await (const item of items) {
        this.#take(item);
        // A reader that is slow slows the follower.
        if (stdout.writableNeedDrain) await once(stdout, 'drain', { signal });
        if (runId !== undefined && item.kind === 'run' && item.run.id === runId && isEnded(item.run)) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      this.close();
    }
    if (signal.reason === LATE) throw this.#tooLate();
    if (signal.aborted) return this.#leave();
    await this.#requireEnd();
    return this.#result(this.#state === 'stopping' ? 'stopped' : 'ended');
  }

  close(): void {
    clearTimeout(this.#left);
    this.#keyboard?.close();
    this.#release();
    this.#output.close();
  }

  #result(end: Followed['end']): Followed {
    return { end, runs: this.#runs, messages: this.#messages, thread: this.#thread };
  }

  #take(item: FollowItem): void {
    if (item.kind === 'run') this.#runs.set(item.run.id, item.run);
    else if (item.kind === 'message' && this.#cli.globals.json) this.#messages.push(item.message);
    else if (item.kind === 'thread') this.#thread = item.thread;
    this.#enter({ state: 'open' });
    this.#output.take(item);
  }

  #enter(state: ReaderState): void {
    if (state.state === 'waiting' && state.attempt >= SAID_AT_ATTEMPT && !this.#isAway) {
      this.#isAway = true;
      this.#output.notice('away', `Waiting for the service: ${oneLine(state.reason.message)}`);
    } else if (state.state === 'open' && this.#isAway) {
      this.#isAway = false;
      this.#output.notice('away', undefined);
    }
  }

  // Leaving and stopping.

  #interrupt(): void {
    if (this.#state === 'leaving') return this.#stop();
    if (this.#state === 'stopping' || this.#cli.io.stderr.isTTY !== true) return this.#abort.abort(LEFT);
    this.#state = 'leaving';
    const keys = this.#keyboard ? 'Ctrl-C again, or s,' : 'Ctrl-C again';
    this.#output.notice('keys', `The work goes on. ${keys} stops it.`);
    this.#left = setTimeout(() => this.#abort.abort(LEFT), AGAIN_MS);
  }

  #press(key: string): void {
    if (key === 'ctrl-c') this.#interrupt();
    else if (this.#state === 'leaving') {
      if (key === 's') this.#stop();
      else this.#abort.abort(LEFT);
    } else if (key === 'y' || key === 'n' || key === 'a') void this.#answer(key);
  }

  #stop(): void {
    clearTimeout(this.#left);
    this.#state = 'stopping';
    this.#output.notice('keys', 'Stopping the run …');
    const { runs } = this.#place.of(this.#cli.client);
    runs
      .stop({ signal: this.#abort.signal })
      .catch((error: unknown) => this.#failed(error, 'run_not_active'));
  }

  #leave(): Followed {
    this.#cli.say(`The work goes on. → headrace attach ${this.#place.threadId}`);
    return this.#result('left');
  }

  #tooLate(): Fault {
    return new Fault(EXIT.timeout, 'The work did not end in time. It goes on.', {
      hint: `headrace attach ${this.#place.threadId}`,
    });
  }

  /** The items also end when the thread is deleted. */
  async #requireEnd(): Promise<void> {
    const { runId } = this.#request;
    if (runId === undefined ? this.#isIdle() : isEnded(this.#runs.get(runId))) return;
    const thread = this.#place.of(this.#cli.client);
    try {
      if (runId === undefined) this.#thread = await thread.get();
      else this.#runs.set(runId, await thread.runs.get(runId));
    } catch (error) {
      if (!(error instanceof HeadraceError) || error.status !== 404) throw error;
      throw new Fault(EXIT.notFound, 'The thread was deleted meanwhile.', {
        code: 'thread_not_found',
        hint: 'headrace thread list',
      });
    }
  }

  #isIdle(): boolean {
    const status = this.#thread?.status;
    return status === 'ready' || status === 'failed' || status === 'archived';
  }

  // Answers to approvals.

  async #answer(key: 'y' | 'n' | 'a'): Promise<void> {
    const { question } = this.#output;
    if (!question || question.id === this.#answering) return;
    this.#answering = question.id;
    const decision = key === 'n' ? 'deny' : 'approve';
    const { approvals } = this.#place.of(this.#cli.client);
    await approvals
      .answer(
        question.id,
        { decision, ...(key === 'a' && { remember: true }) },
        { signal: this.#abort.signal },
      )
      .catch((error: unknown) => {
        this.#answering = undefined;
        this.#failed(error, 'approval_resolved');
      });
  }

  /** A fault of a key's work. `late`: the code of what happened otherwise meanwhile, which the items show. */
  #failed(error: unknown, late: string): void {
    if (this.#abort.signal.aborted || (error instanceof HeadraceError && error.code === late)) return;
    this.#output.notice('keys', oneLine((error as Error).message));
  }
}

const LEFT = new Error('The user left.');
const LATE = new Error('The time is over.');
