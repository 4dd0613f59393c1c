/**
 * Where in some bytes a match can be at all: at the texts that every match contains, or one of which it
 * contains. Most files have none of them, and are neither decoded nor split into lines.
 */

/** Where the next candidate begins, from `from` on; -1 if there is none. */
export type Finder = (from: number) => number;
export type OpenFinder = (bytes: Buffer) => Finder;

/** What re2js keeps of a pattern: texts that a match has (all of `subs`, or one of them). */
export interface Prefilter {
  type: number;
  str: string;
  subs: readonly Prefilter[];
}
const [EXACT, AND, OR] = [1, 2, 3];

/** More take as long to look for as the pattern itself. */
const MAX_TEXTS = 16;
/** Bytes that are no UTF-8 become this character, so that it stands for bytes of any kind. */
const REPLACEMENT = '\ufffd';

/** Texts one of which every match contains; null if nothing is known. Of several choices, the longest. */
export function textsOf(filter: Prefilter | null): string[] | null {
  if (filter === null) return null;
  if (filter.type === EXACT) return [filter.str];
  const choices = filter.subs.map(textsOf);
  if (filter.type === OR) return choices.every((c) => c !== null) ? choices.flat() : null;
  if (filter.type !== AND) return null;
  return choices.reduce((best, next) => (lengthOf(next) > lengthOf(best) ? next : best), null);
}

const lengthOf = (texts: string[] | null) => Math.min(...(texts ?? ['']).map((text) => text.length));

/** Null if the texts cannot be found in the bytes of a file. */
export function finderOf(texts: readonly string[] | null, isCaseSensitive: boolean): OpenFinder | null {
  if (texts === null || texts.length > MAX_TEXTS) return null;
  const [text] = texts;
  if (texts.length === 1 && isCaseSensitive && text && !text.includes(REPLACEMENT)) {
    const needle = Buffer.from(text);
    return (bytes) => (from) => bytes.indexOf(needle, from);
  }
  const sources = texts.map((t) => (isCaseSensitive ? exactSource(t) : foldedSource(t)));
  if (sources.some((source) => source === '')) return null;
  return (bytes) => {
    const regex = new RegExp(sources.join('|'), 'g');
    // A character for each byte.
    const chars = bytes.toString('latin1');
    return (from) => {
      regex.lastIndex = from;
      return regex.exec(chars)?.index ?? -1;
    };
  };
}

const exactSource = (text: string) =>
  text.includes(REPLACEMENT) ? '' : [...Buffer.from(text)].map(charSource).join('');

/**
 * The longest run of ASCII in all its cases: beyond ASCII, the forms of a character differ in length. Two
 * characters beyond it are forms of ASCII letters: the Kelvin sign and the long s.
 */
function foldedSource(text: string): string {
  const runs = text.split(/[^\0-\x7f]+/);
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best));
  return [...longest].map(foldedChar).join('');
}

function foldedChar(c: string): string {
  const [lower, upper] = [c.toLowerCase(), c.toUpperCase()];
  if (lower === upper) return charSource(c.charCodeAt(0));
  if (lower === 'k') return '(?:[kK]|\\xe2\\x84\\xaa)';
  if (lower === 's') return '(?:[sS]|\\xc5\\xbf)';
  return `[${lower}${upper}]`;
}

const charSource = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`;
