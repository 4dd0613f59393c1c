/**
 * Messages that arrive during a turn.
 *
 *   offered ──take()──▶ taken (answered true once the conversation that holds it is saved)
 *      │
 *      └──close()─────▶ refused (answered false): the turn is over
 *
 * A repeated id gets the first offer's answer, so that a message is taken at most once.
 */
interface Steer {
  id: string;
  prompt: unknown;
}

interface Offer extends Steer {
  answer: (isTaken: boolean) => void;
}

/** Messages that may wait at once, and ids that are remembered. */
const WAITING = 100,
  REMEMBERED = 10_000;

export class Steering {
  #isOpen = false;
  #waiting: Offer[] = [];
  readonly #answers = new Map<string, Promise<boolean>>();

  open(): void {
    this.#isOpen = true;
  }

  /** Resolves to whether the message entered the conversation. */
  offer(steer: Steer): Promise<boolean> {
    const known = this.#answers.get(steer.id);
    if (known) return known;
    if (!this.#isOpen || this.#waiting.length >= WAITING || this.#answers.size >= REMEMBERED)
      return Promise.resolve(false);
    const answer = new Promise<boolean>((resolve) => {
      this.#waiting.push({ ...steer, answer: resolve });
    });
    this.#answers.set(steer.id, answer);
    return answer;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Hands out all waiting messages; the caller calls `confirm` once they are saved. */
  take(): { steers: Steer[]; confirm: () => void } {
    const taken = this.#waiting;
    this.#waiting = [];
    return {
      steers: taken,
      confirm: () => {
        for (const { answer } of taken) answer(true);
      },
    };
  }

  /** Refuses the waiting messages. A refused message may be offered again to a later turn. */
  close(): void {
    this.#isOpen = false;
    for (const { id, answer } of this.#waiting) {
      this.#answers.delete(id);
      answer(false);
    }
    this.#waiting = [];
  }
}
