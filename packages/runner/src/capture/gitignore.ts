import { RunnerError } from '../errors.ts';
import { matchesGlob, parseGlob, type Budget, type Glob } from './glob.ts';

/**
 * .gitignore as git reads it (gitignore(5)): nested files, negation, anchoring, `**`, folders only.
 * Reimplemented because git, run in a tree that strangers wrote, obeys the configuration in it. Paths have no
 * leading or trailing slash.
 */
interface Rule {
  isNegated: boolean;
  foldersOnly: boolean;
  glob: Glob;
  byName: boolean;
}

/** Longer patterns serve nobody and would only cost time. */
const LONGEST = 4096;
/** One to two seconds that block the runner: 100,000 files below 50 patterns. */
const STEPS = 100_000_000;

export class Gitignore {
  readonly #byFolder = new Map<string, Rule[]>();
  readonly #folders = new Map<string, boolean>();
  readonly #budget: Budget = { steps: STEPS };

  /** Adds the file of one folder ('' = the top). Add parents before the first question. */
  add(folder: string, text: string): void {
    const rules = bytesOf(text.replace(/^\uFEFF/, ''))
      .split('\n')
      .flatMap((line) => rule(line) ?? []);
    if (rules.length > 0) this.#byFolder.set(folder, rules.toReversed());
  }

  /**
   * Whether a file is ignored: by a pattern that matches it, or because a folder above it is. Throws
   * `too_large` 413 when all answers together took too long.
   */
  ignores(path: string): boolean {
    return this.#matches(path, 'file');
  }

  /** Whether a whole folder is ignored: git never looks inside, so negations there have no effect. */
  ignoresFolder(path: string): boolean {
    let known = this.#folders.get(path);
    if (known === undefined) this.#folders.set(path, (known = this.#matches(path, 'folder')));
    return known;
  }

  #matches(path: string, kind: 'file' | 'folder'): boolean {
    const parent = parentOf(path);
    if (parent !== '' && this.ignoresFolder(parent)) return true;
    // The nearest file with a matching pattern decides; in one file, the last pattern.
    for (
      let folder: string | undefined = parent;
      folder !== undefined;
      folder = folder === '' ? undefined : parentOf(folder)
    ) {
      this.#budget.steps -= folder.length;
      if (this.#budget.steps < 0)
        throw new RunnerError(
          413,
          'too_large',
          'The patterns of the .gitignore files take too long to match.',
        );
      const rules = this.#byFolder.get(folder);
      if (!rules) continue;
      const relative = bytesOf(folder === '' ? path : path.slice(folder.length + 1));
      const name = relative.slice(relative.lastIndexOf('/') + 1);
      const decisive = rules.find(
        (r) =>
          (kind === 'folder' || !r.foldersOnly) &&
          matchesGlob(r.glob, r.byName ? name : relative, this.#budget),
      );
      if (decisive) return !decisive.isNegated;
    }
    return false;
  }
}

const BEYOND_ASCII = /[\u0080-\uffff]/;
/** One character per byte: git compares bytes. */
const bytesOf = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;
const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function rule(line: string): Rule | undefined {
  let pattern = withoutTrailingSpaces(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (pattern === '' || pattern.startsWith('#') || pattern.length > LONGEST) return undefined;
  const isNegated = pattern.startsWith('!');
  if (isNegated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith('/');
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const byName = !pattern.includes('/');
  if (pattern.startsWith('/')) pattern = pattern.slice(1);
  const glob = pattern === '' ? undefined : parseGlob(pattern, byName);
  return glob && { isNegated, foldersOnly, byName, glob };
}

/** Trailing spaces count only when a backslash escapes them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') {
    let slashes = 0;
    while (line[end - 2 - slashes] === '\\') slashes++;
    if (slashes % 2 === 1) break;
    end--;
  }
  return line.slice(0, end);
}
