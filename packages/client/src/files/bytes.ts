/** Text and bytes, as every runtime has them. */

const encoder = new TextEncoder();
/** Arguments of one call. */
const CHUNK = 8_192;

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** Each byte as the character of its number. `TextDecoder('latin1')` would read Windows-1252. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}
