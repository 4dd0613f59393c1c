/**
 * What `.gitignore` and `.headraceignore` leave out, as git reads them: in each folder, deeper files over higher
 * ones, the last pattern that matches decides. In one folder the patterns of `.headraceignore` follow those of
 * `.gitignore`.
 */
import { hasWildcard, wildmatch } from './wildmatch.ts';

export const IGNORE_FILES = ['.gitignore', '.headraceignore'] as const;

/** Null where no pattern matches. A folder that is `ignored` is not looked into. */
export type Verdict = 'ignored' | 'included' | null;

interface Pattern {
  /** Without `!`, and without the slashes at its begin and end. Each character is a byte. */
  glob: string;
  verdict: 'ignored' | 'included';
  foldersOnly: boolean;
  /** For a pattern without a slash in it: it matches names at any depth. */
  matchesName: boolean;
  hasWildcard: boolean;
  /** What names end with, for a pattern like `*.log`. */
  suffix: string | null;
}

/** The patterns that hold in a folder: its own, then those of the folders above. */
export class IgnoreRules {
  readonly #patterns: readonly Pattern[];
  readonly #above: IgnoreRules | null;
  /** The length of the folder's path with its slash, in bytes. */
  readonly #base: number;

  private constructor(patterns: readonly Pattern[], above: IgnoreRules | null, base: number) {
    this.#patterns = patterns;
    this.#above = above;
    this.#base = base;
  }

  static readonly none: IgnoreRules = new IgnoreRules([], null, 0);

  /** The rules in `folder` (a path that ends with a slash; empty at the top), given the texts of its ignore files. */
  within(folder: string, files: readonly Uint8Array[]): IgnoreRules {
    const patterns = files.flatMap(parsePatterns).reverse();
    return patterns.length === 0 ? this : new IgnoreRules(patterns, this, bytesOf(folder).length);
  }

  /** For a path from the top, which lies below the folder of these rules. */
  verdict(path: string, isFolder: boolean): Verdict {
    const bytes = bytesOf(path);
    const name = bytes.slice(bytes.lastIndexOf('/') + 1);
    for (let rules: IgnoreRules | null = this; rules; rules = rules.#above) {
      const below = bytes.slice(rules.#base);
      for (const pattern of rules.#patterns)
        if ((isFolder || !pattern.foldersOnly) && matches(pattern, below, name)) return pattern.verdict;
    }
    return null;
  }
}

function matches(pattern: Pattern, path: string, name: string): boolean {
  const { glob, suffix } = pattern;
  const text = pattern.matchesName ? name : path;
  if (!pattern.hasWildcard) return text === glob;
  if (suffix !== null) return text.endsWith(suffix);
  return wildmatch(glob, text, !pattern.matchesName);
}

function parsePatterns(file: Uint8Array): Pattern[] {
  const text = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1');
  return text
    .replace(/^\xef\xbb\xbf/, '')
    .split('\n')
    .flatMap((line) => parsePattern(line.replace(/\r$/, '')) ?? []);
}

function parsePattern(line: string): Pattern | null {
  if (line === '' || line.startsWith('#')) return null;
  let glob = withoutTrailingSpaces(line);
  const verdict = glob.startsWith('!') ? 'included' : 'ignored';
  if (verdict === 'included') glob = glob.slice(1);
  const foldersOnly = glob.endsWith('/');
  if (foldersOnly) glob = glob.slice(0, -1);
  const matchesName = !glob.includes('/');
  if (glob.startsWith('/')) glob = glob.slice(1);
  if (glob === '') return null;
  const rest = glob.slice(1);
  return {
    glob,
    verdict,
    foldersOnly,
    matchesName,
    hasWildcard: hasWildcard(glob),
    suffix: matchesName && glob.startsWith('*') && !hasWildcard(rest) ? rest : null,
  };
}

/** An escaped space stays. */
function withoutTrailingSpaces(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') end = Math.min((at += 1) + 1, line.length);
    else if (line[at] !== ' ') end = at + 1;
  }
  return line.slice(0, end);
}

/** Each character of the result is a byte of the UTF-8. */
const bytesOf = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;
const BEYOND_ASCII = /\P{ASCII}/u;
