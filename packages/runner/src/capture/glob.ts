/**
 * Patterns of .gitignore, matched byte by byte like git's wildmatch. Regular expressions are out: for a
 * pattern with many stars they try every way to divide a name, and strangers write both.
 */

/** A byte (its code), a table of bytes, or one of the wildcards below. */
type Token = number | Uint8Array;
export type Glob = Token[];

/** What a star matches: bytes of one segment; any bytes; nothing, or any bytes up to a slash. */
const STAR = -1,
  ALL = -2,
  FOLDERS = -3;
const SLASH = 0x2f,
  NONE = 256;

/** How much the matches of one capture may cost. */
export interface Budget {
  steps: number;
}

/** The text before the first wildcard of a pattern, and that after the last one. */
export function literalEnds(glob: Glob): { first: string; last: string } {
  const isLiteral = (token: Token | undefined): token is number => typeof token === 'number' && token >= 0;
  let start = 0,
    end = glob.length;
  while (isLiteral(glob[start])) start++;
  while (end > start && isLiteral(glob[end - 1])) end--;
  const text = (tokens: Glob): string => String.fromCharCode(...(tokens as number[]));
  return { first: text(glob.slice(0, start)), last: text(glob.slice(end)) };
}

/**
 * Whether a pattern matches a whole text; both have one character per byte. Costs at most the product of
 * their lengths, except for several `**`, and never more than the budget: what is left then is negative.
 */
export function matchesGlob(glob: Glob, text: string, budget: Budget): boolean {
  let at = 0,
    i = 0,
    steps = 8; // of the call itself
  // Only the last star of each kind is retried: earlier stars can keep the shortest match that worked.
  let star = -1,
    starAt = 0,
    deep = -1,
    deepAt = 0;
  for (; steps <= budget.steps; steps++) {
    const token = glob[at],
      byte = i < text.length ? text.charCodeAt(i) : NONE;
    if (token === STAR) {
      star = at++;
      starAt = i;
    } else if (token === ALL || token === FOLDERS) {
      deep = at++;
      deepAt = i;
      star = -1;
    } else if (typeof token === 'number' ? token === byte : token?.[byte] === 1) {
      at++;
      i++;
    } else if (token === undefined && byte === NONE) {
      budget.steps -= steps;
      return true;
    } else if (star >= 0 && starAt < text.length && text.charCodeAt(starAt) !== SLASH) {
      i = ++starAt;
      at = star + 1;
    } else {
      if (deep >= 0) deepAt = glob[deep] === ALL ? deepAt + 1 : text.indexOf('/', deepAt) + 1;
      if (deep < 0 || deepAt === 0 || deepAt > text.length) {
        budget.steps -= steps;
        return false;
      }
      i = deepAt;
      at = deep + 1;
      star = -1;
    }
  }
  budget.steps = -1;
  return false;
}

/**
 * A pattern without its leading slash; undefined when it can match nothing (an open bracket, a single
 * backslash at the end).
 */
export function parseGlob(pattern: string, byName: boolean): Glob | undefined {
  const glob: Glob = [];
  // git compares the text before the first wildcard separately: a `**` right after it counts as one at the
  // start.
  const literal = pattern.search(/[*?[\\]/);
  for (let at = 0; at < pattern.length;) {
    const char = pattern[at]!;
    if (char === '*') {
      const stars = /^\*+/.exec(pattern.slice(at))![0].length,
        next = pattern.slice(at + stars, at + stars + 2);
      const isDeep =
        !byName &&
        stars > 1 &&
        (at === literal || pattern[at - 1] === '/') &&
        (next === '' || next.startsWith('/') || next === '\\/');
      glob.push(!isDeep ? STAR : next.startsWith('/') ? FOLDERS : ALL);
      at += isDeep && next.startsWith('/') ? stars + 1 : stars;
    } else if (char === '?') {
      glob.push(NO_SLASH);
      at++;
    } else if (char === '[') {
      const found = bracket(pattern.slice(at));
      if (!found) return undefined;
      glob.push(found.table);
      at += found.length;
    } else {
      const isQuoted = char === '\\';
      if (isQuoted && at + 1 >= pattern.length) return undefined;
      glob.push(pattern.charCodeAt(isQuoted ? at + 1 : at));
      at += isQuoted ? 2 : 1;
    }
  }
  return glob;
}

/** Pairs of the first and the last byte of a range. */
const CLASSES: Record<string, string> = {
  alnum: '09AZaz',
  alpha: 'AZaz',
  blank: '  \t\t',
  cntrl: '\x00\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '  \t\n\r\r',
  upper: 'AZ',
  xdigit: '09AFaf',
};

/** A bracket expression at the start of the text; it never matches a slash. */
function bracket(text: string): { table: Uint8Array; length: number } | undefined {
  let at = 1,
    ranges = '';
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at++;
  for (let isFirst = true; ; isFirst = false) {
    const char = text[at];
    if (char === undefined) return undefined;
    if (char === ']' && !isFirst) break;
    const named = /^\[:([a-z]+):\]/.exec(text.slice(at, at + 12));
    if (named) {
      const known = CLASSES[named[1]!];
      if (known === undefined) return undefined;
      ranges += known;
      at += named[0].length;
      continue;
    }
    const from = member(text, at);
    if (!from) return undefined;
    const to =
      text[from.next] === '-' && text[from.next + 1] !== undefined && text[from.next + 1] !== ']'
        ? member(text, from.next + 1)
        : from;
    if (!to) return undefined;
    at = to.next;
    ranges += from.char + to.char;
  }
  return { table: tableOf(ranges, { isNegated }), length: at + 1 };
}

function member(text: string, at: number): { char: string; next: number } | undefined {
  const isQuoted = text[at] === '\\';
  const char = text[isQuoted ? at + 1 : at];
  return char === undefined ? undefined : { char, next: at + (isQuoted ? 2 : 1) };
}

/** The bytes except the slash that lie in one of these ranges, or in none of them. */
function tableOf(ranges: string, { isNegated }: { isNegated: boolean }): Uint8Array {
  const table = new Uint8Array(256).fill(isNegated ? 1 : 0);
  for (let at = 0; at < ranges.length; at += 2)
    table.fill(isNegated ? 0 : 1, ranges.charCodeAt(at), ranges.charCodeAt(at + 1) + 1);
  table[SLASH] = 0;
  return table;
}

const NO_SLASH = tableOf('', { isNegated: true });
