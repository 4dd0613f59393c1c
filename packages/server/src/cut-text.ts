/** Cuts long texts to a number of UTF-8 bytes, at whole characters. */

/** At most the last `maxBytes` of a text's bytes. */
export function endOf(bytes: Buffer, maxBytes: number): string {
  let from = Math.max(0, bytes.length - maxBytes);
  if (from > 0) while (from < bytes.length && isInside(bytes[from]!)) from++;
  return bytes.toString('utf8', from);
}

/** The text is cut before it is encoded: a character has at least one byte. */
export const lastBytes = (text: string, maxBytes: number): string =>
  endOf(Buffer.from(text.slice(-maxBytes)), maxBytes);

export function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let to = Math.min(bytes.length, maxBytes);
  if (to < bytes.length) while (to > 0 && isInside(bytes[to]!)) to--;
  return bytes.toString('utf8', 0, to);
}

/** Whether a byte is a continuation byte. */
const isInside = (byte: number): boolean => (byte & 0xc0) === 0x80;
