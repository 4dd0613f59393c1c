/** Reads server-sent events: passes on the data of each event, in whatever pieces it arrives. */

/** The longest event. */
const EVENT_CHARACTERS = 32 * 1024 * 1024;

interface SseReader {
  /** Throws a RangeError when an event has no end. */
  write(chunk: Uint8Array): void;
  end(): void;
}

export function readSse(onData: (data: string) => void): SseReader {
  const decoder = new TextDecoder();
  /** Pieces of an unfinished line, joined once: else a long line would be copied with each piece. */
  let pieces: string[] = [];
  let size = 0;
  let data: string[] = [];
  const line = (text: string) => {
    const content = text.endsWith('\r') ? text.slice(0, -1) : text;
    if (content === '') {
      if (data.length) onData(data.join('\n'));
      data = [];
      size = 0;
    } else if (content.startsWith('data:'))
      data.push(content.startsWith('data: ') ? content.slice(6) : content.slice(5));
  };
  const take = (text: string) => {
    size += text.length;
    if (size > EVENT_CHARACTERS) throw new RangeError('an event without an end');
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      line(pieces.length ? pieces.join('') + text.slice(from, end) : text.slice(from, end));
      pieces = [];
      from = end + 1;
    }
    if (from < text.length) pieces.push(from ? text.slice(from) : text);
  };
  return {
    write: (chunk) => take(decoder.decode(chunk, { stream: true })),
    /** An event without its empty line counts: its data is whole when the stream ended well. */
    end() {
      take(decoder.decode());
      if (pieces.length) line(pieces.join(''));
      line('');
    },
  };
}
