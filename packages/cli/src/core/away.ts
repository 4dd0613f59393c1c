/** A service that is away while a command follows something: it is said once, and the command goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadraceError } from '@headrace/client';
import type { ReaderState } from '@headrace/client';
import { oneLine } from '../terminal/escape.ts';
import type { Cli } from './cli.ts';

const FIRST_MS = 500;
const LONGEST_MS = 15_000;
/** One lost connection is usual: a proxy's limit, a restart. */
const SAID_AT_ATTEMPT = 2;

export class Away {
  readonly #cli: Cli;
  #isSaid = false;

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  /** For the client's readers of events. */
  readonly onState = (state: ReaderState): void => {
    if (state.state === 'open') this.#back();
    else if (state.state === 'waiting' && state.attempt >= SAID_AT_ATTEMPT) this.#lost(state.reason);
  };

  /** The result of a read, which is repeated until the service answers. Its own attempts come first. */
  async read<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        const answer = await read();
        this.#back();
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof HeadraceError) || !error.retryable) throw error;
        this.#lost(error);
        const backoff = Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
        await pause(Math.max(backoff, Math.min(LONGEST_MS, error.retryAfterMs ?? 0)), signal);
      }
    }
  }

  #lost({ message }: HeadraceError): void {
    if (!this.#isSaid)
      this.#cli.say(this.#cli.paintTalk('yellow', `Waiting for the service: ${oneLine(message)}`));
    this.#isSaid = true;
  }

  #back(): void {
    if (this.#isSaid) this.#cli.say('The service is back.');
    this.#isSaid = false;
  }
}

/** Rejects with the signal's reason. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
