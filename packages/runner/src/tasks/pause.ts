import { RunnerError } from '../errors.ts';
import type { Sandbox } from '../sandbox/driver.ts';
import type { Workspace } from '../workspaces/workspaces.ts';

/** A worker that dies must not leave an agent still; no capture of what a source may hold takes this long, on a busy machine either. */
const LONGEST_MS = 10_000;

/** Holds the sandbox of a running task still, so that its workspace can be read while the task lives. */
export class Pause {
  readonly #sandbox: Sandbox;
  readonly #workspace: Workspace;
  readonly #by: string;
  #isBegun = false;
  #isOver = false;
  #token: symbol | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** `by`: the task that works in the workspace. */
  constructor(sandbox: Sandbox, workspace: Workspace, by: string) {
    this.#sandbox = sandbox;
    this.#workspace = workspace;
    this.#by = by;
  }

  /** Throws `busy` 409 while it is paused already, `invalid_state` 409 at its end, `not_paused` 503. */
  async begin(): Promise<void> {
    if (this.#isOver) throw ended();
    if (this.#isBegun) throw new RunnerError(409, 'busy', 'The task is paused already.');
    this.#isBegun = true;
    this.#timer = setTimeout(() => void this.end(), LONGEST_MS);
    try {
      await this.#sandbox.pause();
    } catch (error) {
      await this.end();
      throw error;
    }
    // It may have been ended meanwhile, or the task was.
    if (this.#isOver || !this.#isBegun || this.#workspace.usedBy !== this.#by) {
      await this.#sandbox.resume();
      throw ended();
    }
    this.#token = Symbol(this.#by);
    this.#workspace.still = this.#token;
  }

  /** The task goes on. Idempotent. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isBegun = false;
    const { still } = this.#workspace;
    if (this.#token !== null && still === this.#token)
      Object.assign(this.#workspace, { still: null, captured: null });
    this.#token = null;
    await this.#sandbox.resume();
  }

  /** The task's work is over: it can be paused no more. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.end();
  }
}

const ended = (): RunnerError => new RunnerError(409, 'invalid_state', 'The task has ended.');
