/** The pause of a loop: it ends early when there is something to do. */
export class Rest {
  #isWoken = false;
  #end: () => void = () => {};

  /** Until the next wake-up, at most `ms`; a wake-up since the last pause counts. */
  async take(ms: number): Promise<void> {
    if (!this.#isWoken && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#isWoken = false;
  }

  wake(): void {
    this.#isWoken = true;
    this.#end();
  }
}
