import { setTimeout as sleep } from 'node:timers/promises';
import { PassThrough, type Writable } from 'node:stream';
import { RunnerError } from '../../errors.ts';
import type { Sandbox, SandboxExit } from '../driver.ts';
import { signalOf } from '../exit.ts';
import { EngineError, type Engine } from './engine.ts';
import { Frames } from './frames.ts';
import { initOf, type Init } from './init.ts';

/** How long an engine may take to prove that a container is gone, and how often it is asked. */
const GONE_MS = 10_000,
  CALL_MS = 5_000;
const ASK_AGAIN_MS = [2, 5, 10, 20, 40, 80, 160, 250];
const DRAIN_MS = 2_000,
  LOOK_MS = 250;
/** The signal of a kill. */
const KILLED = { code: 137, signal: 'SIGKILL' } as const;

interface State {
  Running?: boolean;
  ExitCode?: number;
  OOMKilled?: boolean;
  Pid?: number;
}

/**
 * One container from its creation to its removal:
 *
 *   create → attach → start → (ends by itself | kill) → inspect → remove → proved gone
 *
 * The runner chooses its name, so that it can be removed even when the answer to its creation is lost. A kill
 * is noticed between any two steps.
 */
export class Container implements Sandbox {
  readonly stdin: Writable;
  readonly #input = new PassThrough();
  readonly stdout;
  readonly stderr;
  readonly exited: Promise<SandboxExit>;
  readonly #begun = Promise.withResolvers<void>();
  readonly begun = this.#begun.promise;
  readonly #engine: Engine;
  readonly #name: string;
  readonly #frames = new Frames();
  readonly #killed = Promise.withResolvers<'killed'>();
  #isKilled = false;
  #isStarted = false;
  #hasFailed = false;
  #isPaused = false;
  #init: Init | undefined;
  #exit: SandboxExit | undefined;

  constructor(engine: Engine, name: string, spec: object) {
    this.#engine = engine;
    this.#name = name;
    this.stdout = this.#frames.stdout;
    this.stderr = this.#frames.stderr;
    this.stdin = this.#input;
    this.exited = this.#live(spec);
    this.exited.catch(() => {
      this.#hasFailed = true;
    }); // its awaiters see it
  }

  initPid(): number | undefined {
    return this.#init?.pid;
  }

  async pause(): Promise<void> {
    try {
      await this.#engine.ask('POST', `/containers/${this.#name}/pause`, { timeoutMs: CALL_MS });
      this.#isPaused = true;
    } catch (error) {
      // Rootless engines without control groups cannot.
      throw new RunnerError(503, 'not_paused', `The container is not paused: ${(error as Error).message}`);
    }
  }

  async resume(): Promise<void> {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    await this.#engine
      .call('POST', `/containers/${this.#name}/unpause`, { timeoutMs: CALL_MS })
      .catch(() => undefined);
  }

  kill(): Promise<SandboxExit> {
    void this.resume();
    this.#isKilled = true;
    this.#killed.resolve('killed');
    if (!this.#hasFailed) return this.exited;
    return this.exited.catch(async (error: unknown) => {
      if (!isNotConfirmed(error)) throw error;
      await this.#remove();
      return this.#exit ?? { ...KILLED, oom: false };
    });
  }

  async #live(spec: object): Promise<SandboxExit> {
    try {
      await this.#run(spec);
      this.#exit ??= await this.#exitOf();
    } catch (error) {
      this.#frames.end();
      await this.#remove();
      if (this.#isKilled) return { ...KILLED, oom: false };
      throw error instanceof EngineError
        ? new RunnerError(503, 'no_sandbox', `The container engine did not do its part: ${error.message}`)
        : error;
    } finally {
      this.#begun.resolve();
      this.#input.unpipe().resume();
    }
    try {
      await this.#remove();
    } finally {
      this.#frames.end();
    }
    return this.#exit;
  }

  /** Returns when it has ended or must be killed. */
  async #run(spec: object): Promise<void> {
    await this.#engine.ask('POST', `/containers/create?name=${this.#name}`, { body: spec });
    if (this.#isKilled) return;
    // No detach keys: binary input could contain them.
    const { socket, head } = await this.#engine.upgrade(
      `/containers/${this.#name}/attach?stream=1&stdin=1&stdout=1&stderr=1&detachKeys=`,
    );
    socket.on('error', () => {
      /* its end says so */
    });
    this.#frames.attach(socket, head);
    // Does not wait for a process that no longer reads: further input is dropped.
    this.#input.pipe(socket.once('close', () => this.#input.resume()));
    if (this.#isKilled) return;
    await this.#engine.ask('POST', `/containers/${this.#name}/start`, { also: [304] });
    this.#isStarted = true;
    this.#begun.resolve();
    void this.#look();
    await this.#ended();
  }

  /** Reads what can only be known while it lives. */
  async #look(): Promise<void> {
    try {
      this.#init = initOf((await this.#state())?.Pid);
    } catch {
      /* not known then */
    }
  }

  /**
   * The end of its streams is the first sign of its end; a process that closed them lives on, and then the
   * engine reports its end.
   */
  async #ended(): Promise<void> {
    const told = new AbortController();
    // Docker waits two seconds for a reader of the last output before it reports the end.
    const watch = setInterval(() => {
      if (this.#init?.isAlive() === false) this.#frames.release();
    }, LOOK_MS);
    const waited = this.#engine
      .call('POST', `/containers/${this.#name}/wait`, { timeoutMs: 0, signal: told.signal })
      .catch(() => {
        /* what became of it is asked for */
      });
    try {
      await Promise.race([this.#killed.promise, waited, this.#frames.ended]);
      for (const pause of ASK_AGAIN_MS) {
        if (this.#isKilled || !(await this.#state())?.Running) return;
        await Promise.race([sleep(pause), this.#killed.promise]);
      }
      await Promise.race([this.#killed.promise, waited]);
    } finally {
      clearInterval(watch);
      told.abort();
    }
  }

  /** The exit of an ended container; one that still lives is reported as killed, which its removal does. */
  async #exitOf(): Promise<SandboxExit> {
    const cgroup = this.#init?.wasOutOfMemory() ?? false;
    const state = await this.#state().catch((error: unknown) => {
      if (this.#isKilled) return undefined;
      throw error;
    });
    const oom = cgroup || state?.OOMKilled === true;
    if (!state || state.Running || !this.#isStarted) return { ...KILLED, oom };
    this.#frames.release();
    await Promise.race([this.#frames.ended, sleep(DRAIN_MS, undefined, { ref: false })]);
    const code = state.ExitCode ?? null;
    return { code, signal: signalOf(code), oom };
  }

  /** Undefined when there is no such container. Throws EngineError. */
  async #state(): Promise<State | undefined> {
    const { status, body } = await this.#engine.ask('GET', `/containers/${this.#name}/json`, {
      timeoutMs: CALL_MS,
      also: [404],
    });
    if (status === 404) return undefined;
    const { State: state } = (body ?? {}) as { State?: State };
    if (!state) throw new EngineError(status, 'it does not say how a container does');
    return state;
  }

  /**
   * Kills and removes it. Throws `not_confirmed` 500 where the engine does not report it gone, or its first
   * process is seen alive.
   */
  async #remove(): Promise<void> {
    for (const deadline = Date.now() + GONE_MS; Date.now() < deadline; await sleep(100)) {
      try {
        await this.#engine.ask('DELETE', `/containers/${this.#name}?force=true&v=true`, {
          timeoutMs: GONE_MS,
          also: [404, 409],
        });
        if ((await this.#state()) === undefined && this.#init?.isAlive() !== true) return;
      } catch {
        /* asked again */
      }
    }
    throw new RunnerError(
      500,
      'not_confirmed',
      'The container engine does not say that the sandbox is gone.',
    );
  }
}

const isNotConfirmed = (error: unknown): boolean =>
  error instanceof RunnerError && error.code === 'not_confirmed';
