/** Parts of long texts, in bytes of UTF-8 and whole characters. */

/** The last `maxBytes` of a text's bytes. */
export function endOf(bytes: Buffer, maxBytes: number): string {
  let from = Math.max(0, bytes.length - maxBytes);
  if (from > 0) while (from < bytes.length && isInside(bytes[from]!)) from++;
  return bytes.toString('utf8', from);
}

/** Longer texts are cut before they are encoded: a character has a byte at least. */
export const lastBytes = (text: string, maxBytes: number): string =>
  endOf(Buffer.from(text.slice(-maxBytes)), maxBytes);

export function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let to = Math.min(bytes.length, maxBytes);
  if (to < bytes.length) while (to > 0 && isInside(bytes[to]!)) to--;
  return bytes.toString('utf8', 0, to);
}

/** Whether a byte is not the first one of its character. */
const isInside = (byte: number): boolean => (byte & 0xc0) === 0x80;
