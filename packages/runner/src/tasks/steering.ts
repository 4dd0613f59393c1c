import { RunnerError } from '../errors.ts';
import type { SteerRequest } from '../protocol.ts';

const ANSWER_MS = 10_000;

/** Hands messages to a running turn, each id once; a repeated request joins the first answer. */
export class Steering {
  readonly #handed = new Map<string, Promise<boolean>>();
  #hand: ((message: SteerRequest) => Promise<boolean>) | undefined;

  /**
   * From now on `hand` passes messages to the agent and returns whether it took them; without it the turn
   * takes none (any more).
   */
  open(hand: ((message: SteerRequest) => Promise<boolean>) | undefined): void {
    this.#hand = hand;
  }

  /**
   * Resolves when the agent took it. Throws `not_steerable` 409; `no_answer` 504 while the outcome is
   * unknown: ask again.
   */
  async steer(message: SteerRequest): Promise<void> {
    const { id } = message;
    let handed = this.#handed.get(id);
    if (!handed) {
      if (!this.#hand) throw notSteerable();
      handed = this.#hand(message).catch(() => false);
      this.#handed.set(id, handed);
      // A message that was not taken may be offered again.
      void handed.then((isTaken) => isTaken || this.#handed.delete(id));
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new RunnerError(504, 'no_answer', 'The agent has not said yet whether it takes the message.'),
          ),
        ANSWER_MS,
      );
    });
    try {
      if (!(await Promise.race([handed, late]))) throw notSteerable();
    } finally {
      clearTimeout(timer);
    }
  }
}

const notSteerable = (): RunnerError =>
  new RunnerError(409, 'not_steerable', 'The turn takes no messages: its agent cannot, or it has ended.');
