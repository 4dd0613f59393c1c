import type { Duplex } from 'node:stream';

const MAX_BYTES = 32 * 1024 * 1024;

/** What comes on the channel, at most MAX_BYTES of it: null where it was more. */
class Received {
  #parts: Buffer[] = [];
  #size = 0;
  #tail = '';

  add(data: Buffer): void {
    this.#size += data.length;
    // What is too long is read on, so that the hook ends.
    if (this.#size > MAX_BYTES) this.#parts = [];
    else this.#parts.push(data);
    this.#tail = (this.#tail + data.toString('latin1', Math.max(0, data.length - 2))).slice(-2);
  }

  get endsWithEmptyLine(): boolean {
    return this.#tail === '\n\n';
  }

  take(): Buffer | null {
    const all = this.#size > MAX_BYTES ? null : Buffer.concat(this.#parts);
    [this.#parts, this.#size, this.#tail] = [[], 0, ''];
    return all;
  }
}

/**
 * Speaks with the hooks of a push: `answer` gives the line for what pre-receive asks, a list with an empty line
 * behind it. Resolves, when git has ended, to what post-receive reports: empty where it was not called.
 */
export async function answerHooks(
  channel: Duplex,
  answer: (commands: Buffer | null) => Promise<string>,
): Promise<Buffer | null> {
  const received = new Received();
  let isAnswered = false;
  for await (const data of channel as AsyncIterable<Buffer>) {
    received.add(data);
    if (isAnswered || !received.endsWithEmptyLine) continue;
    isAnswered = true;
    channel.write(`${await answer(received.take())}\n`);
  }
  return received.take();
}
