/**
 * Keeps a runner registered: a call every REGISTER_MS, one at a time, which extends the lease and brings what to
 * forget. registration.ts has the agreement.
 */
import type { Forget, RegistrationRequest } from '../registration.ts';
import { REGISTER_MS, Registration } from '../registration.ts';
import { check } from '../http/validate.ts';
import type { Lease } from './lease.ts';
import type { WorkerAnswer, WorkerLinks } from './worker-links.ts';

interface RegistrarOptions {
  bootId: string;
  workers: Pick<WorkerLinks, 'call'>;
  lease: Pick<Lease, 'extend'>;
  describe(this: void): RegistrationRequest;
  /** Resolves with the faults. `sentAt` is when the request that this answers was sent. */
  forget(this: void, named: Forget, sentAt: number): Promise<string[]>;
  /** The workers want to know what workspaces take. */
  onMeasure(this: void): void;
  /** The workers count this runner as gone. */
  onGone(this: void): void;
  /** A line for the log, once for each change. */
  say(this: void, line: string): void;
  now?: () => number;
  everyMs?: number;
}

export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #now: () => number;
  #said = '';
  #underWay: Promise<void> | null = null;
  #isAskedAgain = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The first call is made at once. */
  start(): void {
    this.#timer = setInterval(() => void this.call(), this.#options.everyMs ?? REGISTER_MS);
    void this.call();
  }

  /** Calls now, or again after the call under way, which may have been described before a change. */
  async call(): Promise<void> {
    if (this.#underWay) {
      this.#isAskedAgain = true;
      return this.#underWay;
    }
    this.#underWay = this.#calls();
    return this.#underWay;
  }

  /** Makes no further call; resolves when the one under way has ended, and then says goodbye. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    this.#isAskedAgain = false;
    await this.#underWay;
    const { workers, bootId } = this.#options;
    await workers
      .call('DELETE', `/runners/${bootId}`, '', () => {})
      .catch(() => {
        /* its silence says the same, later */
      });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #calls(): Promise<void> {
    try {
      do {
        this.#isAskedAgain = false;
        await this.#call();
      } while (this.#isAskedAgain);
    } finally {
      this.#underWay = null;
    }
  }

  async #call(): Promise<void> {
    const { bootId, workers, describe } = this.#options;
    let sentAt = this.#now();
    let answer: WorkerAnswer;
    try {
      const describedAt = this.#now();
      const body = JSON.stringify(describe());
      answer = await workers.call('PUT', `/runners/${bootId}`, body, () => {
        sentAt = this.#now();
      });
      await this.#take(answer, sentAt, describedAt);
    } catch (error) {
      this.#say(`no worker takes its registration: ${(error as Error).message}`);
    }
  }

  async #take({ status, body }: WorkerAnswer, sentAt: number, describedAt: number): Promise<void> {
    const { lease, forget, onGone, onMeasure, bootId } = this.#options;
    if (status !== 200) {
      const { code, message } = refusalOf(body);
      if (status === 409 && code === 'gone') return onGone();
      throw new Error(`it answered ${status} ${code}: ${message}`);
    }
    const { leaseSeconds, forget: named, measures } = check(Registration, JSON.parse(body));
    lease.extend(sentAt, leaseSeconds);
    this.#say(`registered as ${bootId}`);
    for (const fault of await forget(named, describedAt)) this.#options.say(fault);
    if (measures) onMeasure();
  }

  #say(line: string): void {
    if (line === this.#said) return;
    this.#said = line;
    this.#options.say(line);
  }
}

function refusalOf(body: string): { code: string; message: string } {
  try {
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    return { code: error.code, message: error.message.slice(0, 300) };
  } catch {
    return { code: 'internal', message: 'no readable answer' };
  }
}
