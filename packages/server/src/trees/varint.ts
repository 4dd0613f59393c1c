/** Unsigned LEB128 numbers up to 2^32, for the binary forms of manifests and pack indexes. */
export class VarintWriter {
  #bytes: number[] = [];

  write(n: number): this {
    let rest = n;
    while (rest >= 0x80) {
      this.#bytes.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.#bytes.push(rest);
    return this;
  }

  finish(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

export class VarintReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Throws `RangeError` past the end. */
  read(): number {
    let n = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      n |= (byte & 0x7f) << shift;
      if (byte < 0x80) return n >>> 0;
    }
    throw new RangeError('the number is cut off or too long');
  }

  get offset(): number {
    return this.#at;
  }
}
