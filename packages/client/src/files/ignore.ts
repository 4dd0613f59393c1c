/**
 * What `.gitignore` and `.headraceignore` exclude, as git reads them: deeper files override higher ones, and the
 * last matching pattern decides. Within a folder, the patterns of `.headraceignore` follow those of `.gitignore`.
 */
import { latin1, utf8 } from './bytes.ts';
import { hasWildcard, wildmatch } from './wildmatch.ts';

export const IGNORE_FILES = ['.gitignore', '.headraceignore'] as const;

/** Tools fill these folders. `!node_modules/` in an ignore file includes one anyway. */
export const DEPENDENCY_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.pnpm-store',
  'bower_components',
]);

/** Null if no pattern matches. An `ignored` folder is not read. */
export type Verdict = 'ignored' | 'included' | null;

interface Pattern {
  /** Without `!`, and without leading and trailing slashes. Each character is a byte. */
  glob: string;
  verdict: 'ignored' | 'included';
  foldersOnly: boolean;
  /** For a pattern without a slash: it matches names at any depth. */
  matchesName: boolean;
  hasWildcard: boolean;
  /** What names end with, for a pattern like `*.log`. */
  suffix: string | null;
}

/** The patterns of one folder's files, the last one first. */
interface FolderPatterns {
  patterns: readonly Pattern[];
  /** The bytes of the folder's path, with its last slash. */
  base: number;
}

/** The patterns that apply in a folder: its own, then those of the folders above. */
export class IgnoreRules {
  readonly #folders: readonly FolderPatterns[];

  private constructor(folders: readonly FolderPatterns[]) {
    this.#folders = folders;
  }

  static readonly none: IgnoreRules = new IgnoreRules([]);

  /** The rules in a subfolder (its path ends with a slash; empty at the top), given its ignore files. */
  within(folder: string, files: readonly Uint8Array[]): IgnoreRules {
    const patterns = files.flatMap(parsePatterns).reverse();
    if (patterns.length === 0) return this;
    return new IgnoreRules([{ patterns, base: bytesOf(folder).length }, ...this.#folders]);
  }

  /** For a path from the top that is in the folder of these rules. */
  verdict(path: string, isFolder: boolean): Verdict {
    const bytes = bytesOf(path);
    const name = bytes.slice(bytes.lastIndexOf('/') + 1);
    for (const { patterns, base } of this.#folders) {
      const below = bytes.slice(base);
      for (const pattern of patterns)
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
  return latin1(file)
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

/** Each character of the result is one byte of UTF-8. */
const bytesOf = (text: string): string => (BEYOND_ASCII.test(text) ? latin1(utf8(text)) : text);
const BEYOND_ASCII = /\P{ASCII}/u;
