/**
 * The beginning and the end of a text that is longer than `limit` characters: the reason of a failure is
 * usually last.
 */
export function clip(text: string, limit: number): { text: string; isCut: boolean } {
  if (text.length <= limit) return { text, isCut: false };
  const half = Math.floor(limit / 2);
  return {
    text: `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`,
    isCut: true,
  };
}

/** A command's output: its first and its last bytes; the bytes between are counted and dropped. */
export class HeadAndTail {
  readonly #limit: number;
  #head: Buffer[] = [];
  #headSize = 0;
  #tail: Buffer[] = [];
  #tailSize = 0;
  #size = 0;

  /** `limit`: bytes of each of the two. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isCut(): boolean {
    return this.#size > this.#headSize + this.#tailSize;
  }

  add(part: Buffer): void {
    this.#size += part.length;
    const fits = part.subarray(0, this.#limit - this.#headSize);
    if (fits.length > 0) {
      this.#head.push(fits);
      this.#headSize += fits.length;
    }
    const rest = part.subarray(fits.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailSize += rest.length;
    while (this.#tailSize - this.#tail[0]!.length >= this.#limit)
      this.#tailSize -= this.#tail.shift()!.length;
    if (this.#tailSize > 2 * this.#limit) {
      this.#tail = [Buffer.concat(this.#tail).subarray(-this.#limit)];
      this.#tailSize = this.#limit;
    }
  }

  text(): string {
    const head = Buffer.concat(this.#head),
      tail = Buffer.concat(this.#tail).subarray(-this.#limit);
    const missing = this.#size - head.length - tail.length;
    if (missing <= 0) return trimmed(Buffer.concat([head, tail]));
    return `${trimmed(head)}\n[… ${missing} bytes left out …]\n${trimmed(tail)}`;
  }
}

/** Without the halves of characters at its ends. */
const trimmed = (bytes: Buffer): string => bytes.toString().replace(/^\uFFFD{1,3}|\uFFFD{1,3}$/g, '');
