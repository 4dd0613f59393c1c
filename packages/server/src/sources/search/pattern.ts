/** What is searched for, ready to be looked for in files. */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { finderOf, textsOf } from './literals.ts';
import type { OpenFinder, Prefilter } from './literals.ts';
import type { Query } from './protocol.ts';

export interface Pattern {
  regex: RE2JS;
  /** Null if each line has to be looked at. */
  openFinder: OpenFinder | null;
}

/** What is wrong with a regular expression, in words for a person. */
export class PatternFault extends Error {}

/** RE2 has such a bound, too; the time for a character grows with the program. */
const MAX_PROGRAM = 20_000;

/** Throws `PatternFault`. */
export function compile({ q, regex: isRegex, caseSensitive }: Query): Pattern {
  const source = isRegex ? q : RE2JS.quote(q);
  const asWritten = compileSource(source, 0);
  const regex = caseSensitive ? asWritten : compileSource(source, RE2JS.CASE_INSENSITIVE);
  if (regex.programSize() > MAX_PROGRAM) throw new PatternFault('is too large');
  // Without regard to case, a match contains a form of what it contains otherwise.
  const texts = isRegex ? textsOf(asWritten.re2().prefilter as Prefilter | null) : [q];
  return { regex, openFinder: finderOf(texts, caseSensitive) };
}

function compileSource(source: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(source, flags);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      throw new PatternFault(`is no regular expression of RE2: ${error.message}`);
    throw error;
  }
}
