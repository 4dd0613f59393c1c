/** Runs work in a task of its own, soon; timers would wait for up to a minute in a hidden tab. */
export class Soon {
  readonly #channel = new MessageChannel();
  readonly #run: () => void;
  #isAsked = false;
  readonly #onMessage = () => {
    this.#isAsked = false;
    this.#run();
  };

  constructor(run: () => void) {
    this.#run = run;
    this.#channel.port1.addEventListener('message', this.#onMessage);
    this.#channel.port1.start();
  }

  ask(): void {
    if (!this.#isAsked) this.#channel.port2.postMessage(null);
    this.#isAsked = true;
  }

  stop(): void {
    this.#channel.port1.removeEventListener('message', this.#onMessage);
    this.#channel.port1.close();
    this.#channel.port2.close();
  }
}
