/**
 * Git's pattern matching (wildmatch.c), on strings in which each character is a byte: `?` is one byte of a name, as
 * in git. With `isPath`, `*`, `?` and sets match no slash, and `**` matches whole folders.
 */

const MATCH = 0;
const NO_MATCH = 1;
/** No later start can match either: ends the search of every `*`, or of every `*` up to the last `**`. */
const ABORT = 2;
const ABORT_TO_STARSTAR = 3;
type Outcome = typeof MATCH | typeof NO_MATCH | typeof ABORT | typeof ABORT_TO_STARSTAR;

const SPECIAL = /[*?[\\]/;

export const hasWildcard = (pattern: string): boolean => SPECIAL.test(pattern);

export function wildmatch(pattern: string, text: string, isPath: boolean): boolean {
  return new Wildmatch(pattern, text, isPath).from(0, 0) === MATCH;
}

class Wildmatch {
  readonly #pattern: string;
  readonly #text: string;
  readonly #isPath: boolean;

  constructor(pattern: string, text: string, isPath: boolean) {
    this.#pattern = pattern;
    this.#text = text;
    this.#isPath = isPath;
  }

  /** Matches the pattern from `p` on against the text from `t` on. */
  from(p: number, t: number): Outcome {
    const [pattern, text] = [this.#pattern, this.#text];
    for (; p < pattern.length; p++, t++) {
      const c = pattern[p]!;
      if (t >= text.length && c !== '*') return ABORT;
      if (c === '*') {
        const next = this.#star(p, t);
        if (typeof next === 'number') return next;
        [p, t] = [next.p, next.t];
      } else if (c === '[') {
        const set = this.#set(p, text.charCodeAt(t));
        if (set === null) return ABORT;
        if (!set.isIn || (this.#isPath && text[t] === '/')) return NO_MATCH;
        p = set.end;
      } else if (c === '?') {
        if (this.#isPath && text[t] === '/') return NO_MATCH;
      } else {
        // A backslash at the pattern's end matches nothing.
        if (c === '\\') p++;
        if (text[t] !== pattern[p]) return NO_MATCH;
      }
    }
    return t < text.length ? NO_MATCH : MATCH;
  }

  /** The outcome of a `*` at `p`, or where both continue: at the slash that follows a single star. */
  #star(start: number, t: number): Outcome | { p: number; t: number } {
    const [pattern, text] = [this.#pattern, this.#text];
    let p = start + 1;
    let crossesSlash = !this.#isPath;
    if (pattern[p] === '*') {
      while (pattern[p] === '*') p++;
      const isFolders =
        (start === 0 || pattern[start - 1] === '/') &&
        (p === pattern.length || pattern[p] === '/' || pattern.startsWith('\\/', p));
      if (isFolders) {
        if (pattern[p] === '/' && this.from(p + 1, t) === MATCH) return MATCH;
        crossesSlash = true;
      }
    }
    if (p === pattern.length) return !crossesSlash && text.includes('/', t) ? NO_MATCH : MATCH;
    if (!crossesSlash && pattern[p] === '/') {
      const slash = text.indexOf('/', t);
      return slash < 0 ? NO_MATCH : { p, t: slash };
    }
    return this.#search(p, t, crossesSlash);
  }

  /** Tries the rest of the pattern after each prefix that the star may match. */
  #search(p: number, from: number, crossesSlash: boolean): Outcome {
    const text = this.#text;
    const end = crossesSlash ? null : '/';
    const literal = hasWildcard(this.#pattern[p]!) ? null : this.#pattern[p]!;
    for (let t = from; t < text.length; t++) {
      if (literal !== null) {
        while (t < text.length && text[t] !== literal && text[t] !== end) t++;
        if (text[t] !== literal) return crossesSlash ? ABORT : ABORT_TO_STARSTAR;
      }
      const outcome = this.from(p, t);
      if (outcome !== NO_MATCH) {
        if (!crossesSlash || outcome !== ABORT_TO_STARSTAR) return outcome;
      } else if (!crossesSlash && text[t] === '/') return ABORT_TO_STARSTAR;
    }
    return ABORT;
  }

  /** Whether the byte is in the set that begins at `open`, and where the set ends; null if it has no end. */
  #set(open: number, byte: number): { isIn: boolean; end: number } | null {
    const pattern = this.#pattern;
    let p = open + 1;
    const isNegated = pattern[p] === '!' || pattern[p] === '^';
    if (isNegated) p++;
    let isIn = false;
    /** The start of the range if a `-` follows; -1 after a range or a class. */
    let previous = -1;
    const first = p;
    for (; p === first || pattern[p] !== ']'; p++) {
      if (p >= pattern.length) return null;
      if (pattern[p] === '-' && previous >= 0 && p + 1 < pattern.length && pattern[p + 1] !== ']') {
        if (pattern[++p] === '\\') p++;
        if (p >= pattern.length) return null;
        isIn ||= previous <= byte && byte <= pattern.charCodeAt(p);
        previous = -1;
      } else if (pattern.startsWith('[:', p)) {
        const end = pattern.indexOf(']', p + 2);
        if (end < 0) return null;
        if (end < p + 3 || pattern[end - 1] !== ':') {
          // No `:]`: a bracket like any other character.
          isIn ||= byte === 0x5b;
          previous = 0x5b;
          continue;
        }
        const isOf = CLASSES.get(pattern.slice(p + 2, end - 1));
        if (!isOf) return null;
        isIn ||= isOf.test(String.fromCharCode(byte));
        previous = -1;
        p = end;
      } else {
        if (pattern[p] === '\\') p++;
        if (p >= pattern.length) return null;
        previous = pattern.charCodeAt(p);
        isIn ||= byte === previous;
      }
    }
    return { isIn: isIn !== isNegated, end: p };
  }
}

const CLASSES = new Map<string, RegExp>([
  ['alnum', /[A-Za-z0-9]/],
  ['alpha', /[A-Za-z]/],
  ['blank', /[ \t]/],
  // oxlint-disable-next-line no-control-regex
  ['cntrl', /[\x00-\x1f\x7f]/],
  ['digit', /[0-9]/],
  ['graph', /[\x21-\x7e]/],
  ['lower', /[a-z]/],
  ['print', /[\x20-\x7e]/],
  ['punct', /[!-/:-@[-`{-~]/],
  ['space', /[ \t\n\r]/],
  ['upper', /[A-Z]/],
  ['xdigit', /[A-Fa-f0-9]/],
]);
