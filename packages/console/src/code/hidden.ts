/** Characters that a reader does not see, or that change what others look like: shown as marks. */

// C0 but tab and line feed, DEL, C1, soft hyphen, Arabic letter mark, Mongolian vowel separator, zero-width
// characters, bidi controls, line and paragraph separators, invisible operators, BOM, interlinear annotations,
// tags, lone surrogates.
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /\u034f|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

const NAMES: Record<number, string> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'BS',
  0x0b: 'VT',
  0x0c: 'FF',
  0x0d: 'CR',
  0x1b: 'ESC',
  0x7f: 'DEL',
  0xad: 'SHY',
  0x61c: 'ALM',
  0x200b: 'ZWSP',
  0x200c: 'ZWNJ',
  0x200d: 'ZWJ',
  0x200e: 'LRM',
  0x200f: 'RLM',
  0x202a: 'LRE',
  0x202b: 'RLE',
  0x202c: 'PDF',
  0x202d: 'LRO',
  0x202e: 'RLO',
  0x2060: 'WJ',
  0x2066: 'LRI',
  0x2067: 'RLI',
  0x2068: 'FSI',
  0x2069: 'PDI',
  0xfeff: 'BOM',
};

/** A piece of text, or a hidden character's code point. */
export type Piece = string | number;

/** `text` in pieces; a zero-width joiner inside an emoji is no mark. */
export function splitHidden(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match[0] === '\u200d' && joinsEmoji(text, match.index)) continue;
    if (match.index > at) pieces.push(text.slice(at, match.index));
    pieces.push(match[0].codePointAt(0)!);
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

/** Short name of a hidden character: `RLO`, else `U+E0041`. */
export function hiddenName(code: number): string {
  return NAMES[code] ?? codeName(code);
}

/** `U+202E`. */
export function codeName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function joinsEmoji(text: string, at: number): boolean {
  return (
    /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u.test(text.slice(Math.max(0, at - 2), at)) &&
    /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3))
  );
}
