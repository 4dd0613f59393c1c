/**
 * Frames of server-sent events, by the WHATWG standard (HTML, "Interpreting an event stream"), except that `retry`
 * is ignored: the reader's own delays decide.
 */
export interface Frame {
  /** `message` if the frame has no `event`. */
  type: string;
  data: string;
  /** The last `id` so far, of this frame or an earlier one; empty if there was none. */
  id: string;
}

/** The most characters of one frame. The service's frames are far smaller: a draft has at most 100,000. */
const FRAME_LIMIT = 10_000_000;

const LF = 10;

/** Takes chunks, cut anywhere, and returns the frames that each one completes. */
export class FrameParser {
  // Invalid bytes become U+FFFD, and a byte order mark at the beginning is left out.
  readonly #decoder = new TextDecoder();
  /** Chunks of the unfinished line: joined once, so that a long line costs no more than its length. */
  #line: string[] = [];
  #length = 0;
  /** The last chunk ended with a CR: a LF that follows belongs to it. */
  #isAfterCr = false;
  #type = '';
  #data: string[] = [];
  #id = '';

  /** Throws for a frame over the limit. */
  push(bytes: Uint8Array): Frame[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const frames: Frame[] = [];
    let at = this.#isAfterCr && text.charCodeAt(0) === LF ? 1 : 0;
    if (text.length) this.#isAfterCr = false;
    let cr = text.indexOf('\r', at);
    while (at < text.length) {
      let end = text.indexOf('\n', at);
      let next = end + 1;
      if (cr !== -1 && (end === -1 || cr < end)) {
        end = cr;
        next = text.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
        this.#isAfterCr = next === text.length && next === end + 1;
        cr = text.indexOf('\r', next);
      }
      this.#keep(text.slice(at, end === -1 ? text.length : end));
      if (end === -1) break;
      const frame = this.#endLine();
      if (frame) frames.push(frame);
      at = next;
    }
    return frames;
  }

  #keep(part: string): void {
    this.#length += part.length;
    if (this.#length > FRAME_LIMIT) throw new Error(`a frame has more than ${FRAME_LIMIT} characters`);
    if (part) this.#line.push(part);
  }

  #endLine(): Frame | null {
    const line = this.#line.length === 1 ? this.#line[0]! : this.#line.join('');
    this.#line = [];
    if (line === '') return this.#endFrame();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else this.#length -= line.length;
    if (name === 'event') this.#type = value;
    if (name === 'id' && !value.includes('\0')) this.#id = value;
    return null;
  }

  #endFrame(): Frame | null {
    const frame = this.#data.length
      ? { type: this.#type || 'message', data: this.#data.join('\n'), id: this.#id }
      : null;
    this.#type = '';
    this.#data = [];
    this.#length = 0;
    return frame;
  }
}
