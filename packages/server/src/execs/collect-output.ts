/** What is kept of each stream of a command. */
const STREAM_BYTES = 1024 * 1024;

interface Output {
  stdout: string;
  stderr: string;
  truncated: boolean;
}

export class OutputCollector {
  readonly #parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  readonly #sizes = { stdout: 0, stderr: 0 };
  #isTruncated = false;

  /** Returns the part of the text that was kept: a stream's listener sees the same as the result. */
  add(stream: 'stdout' | 'stderr', text: string): string {
    const bytes = Buffer.from(text);
    const room = STREAM_BYTES - this.#sizes[stream];
    if (bytes.length > room) this.#isTruncated = true;
    if (room <= 0) return '';
    const kept = bytes.length > room ? wholeCharacters(bytes.subarray(0, room)) : bytes;
    this.#sizes[stream] += bytes.length > room ? room : kept.length;
    this.#parts[stream].push(kept);
    return kept.toString('utf8');
  }

  output(): Output {
    return {
      stdout: Buffer.concat(this.#parts.stdout).toString('utf8'),
      stderr: Buffer.concat(this.#parts.stderr).toString('utf8'),
      truncated: this.#isTruncated,
    };
  }
}

/** Drops a last character that the cut went through. */
function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1]! & 0xc0) === 0x80) end--;
  if (end === 0) return bytes;
  const lead = bytes[end - 1]!;
  const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return end - 1 + length > bytes.length ? bytes.subarray(0, end - 1) : bytes;
}
