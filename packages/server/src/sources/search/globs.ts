/**
 * Globs as regular expressions of RE2, which matches them in linear time: `*`, `?` and `[…]` within a segment
 * of a path, `**` over segments. One without `/` holds for the last segment, at any depth.
 */

export const MAX_GLOBS = 20;
export const MAX_GLOB = 256;

/** What is wrong with a list of globs, in words for a person. */
export class GlobFault extends Error {}

/** A regular expression that holds for the paths that one of the globs holds for. Throws `GlobFault`. */
export function globsPattern(list: string): string {
  const globs = list.split(',').filter((glob) => glob !== '');
  if (globs.length === 0) throw new GlobFault('must name a glob');
  if (globs.length > MAX_GLOBS) throw new GlobFault(`must have at most ${MAX_GLOBS} globs`);
  if (globs.some((glob) => [...glob].length > MAX_GLOB))
    throw new GlobFault(`must have globs of at most ${MAX_GLOB} characters`);
  return `(?s)^(?:${globs.map(patternOf).join('|')})$`;
}

function patternOf(glob: string): string {
  const isName = !glob.includes('/');
  let pattern = isName ? '(?:.*/)?' : '';
  const rest = { text: [...glob], at: 0 };
  while (rest.at < rest.text.length) pattern += nextPart(rest, isName);
  return pattern;
}

interface Rest {
  text: string[];
  at: number;
}

function nextPart(rest: Rest, isName: boolean): string {
  const { text, at } = rest;
  const c = text[at]!;
  if (c === '[') return classOf(rest);
  if (c === '*' && text[at + 1] === '*') {
    const begins = at === 0 || text[at - 1] === '/';
    const isFolders = begins && text[at + 2] === '/';
    rest.at += isFolders ? 3 : 2;
    if (isFolders) return '(?:[^/]+/)*';
    return isName ? '[^/]*' : '.*';
  }
  rest.at++;
  if (c === '*') return '[^/]*';
  return c === '?' ? '[^/]' : literal(c);
}

/** `[abc]`, `[a-z]`, `[!a]` or `[^a]`; `]` is a member where it comes first. Never a slash. */
function classOf(rest: Rest): string {
  const { text } = rest;
  let at = rest.at + 1;
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at++;
  const end = text.indexOf(']', at + 1);
  if (end < 0) throw new GlobFault('has a "[" without its "]"');
  let members = '';
  while (at < end) {
    const isRange = text[at + 1] === '-' && at + 2 < end;
    members += membersOf(text[at]!, isRange ? text[at + 2]! : text[at]!);
    at += isRange ? 3 : 1;
  }
  rest.at = end + 1;
  if (isNegated) return `[^/${members}]`;
  // A class of the slash alone holds for nothing.
  return members === '' ? '[^\\x{0}-\\x{10ffff}]' : `[${members}]`;
}

const SLASH = 0x2f;

function membersOf(first: string, last: string): string {
  const [from, to] = [first.codePointAt(0)!, last.codePointAt(0)!];
  if (from > to) throw new GlobFault(`has a range that is the wrong way round: ${first}-${last}`);
  if (from > SLASH || to < SLASH) return range(from, to);
  return (from < SLASH ? range(from, SLASH - 1) : '') + (to > SLASH ? range(SLASH + 1, to) : '');
}

const range = (from: number, to: number) => `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`;
const literal = (c: string) => `\\x{${c.codePointAt(0)!.toString(16)}}`;
