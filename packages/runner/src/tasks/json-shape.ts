import { AcpFault } from './acp-fault.ts';

/** Shorter messages are cheap, whatever they contain. */
const SMALL_BYTES = 2048;
const LEVELS = 500,
  VALUES = 250_000;
const QUOTE = 0x22,
  BACKSLASH = 0x5c,
  COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]),
  CLOSING = new Set([0x5d, 0x7d]);

/**
 * Refuses JSON that would block every other task while it is parsed: 8 MB of nested brackets take 4 s to
 * parse and 25 s to write, 8 MB of empty objects 2 s; a string of 8 MB takes 30 ms. Throws AcpFault.
 */
export function checkShape(json: Buffer): void {
  if (json.length < SMALL_BYTES) return;
  let levels = 0,
    values = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === COMMA) values++;
    else if (OPENING.has(byte)) {
      levels++;
      values++;
    } else if (CLOSING.has(byte)) levels--;
    if (levels > LEVELS)
      throw new AcpFault(`The agent wrote a message that is nested more than ${LEVELS} levels deep.`);
    if (values > VALUES) throw new AcpFault(`The agent wrote a message of more than ${VALUES} values.`);
  }
}

/** Position of the quote that ends the string which begins at `start`; the text's end when there is none. */
function endOfString(json: Buffer, start: number): number {
  for (let at = json.indexOf(QUOTE, start + 1); at >= 0; at = json.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return json.length;
}
