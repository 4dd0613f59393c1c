import { literalEnds, matchesGlob, parseGlob, type Budget, type Glob } from './glob.ts';

/**
 * .gitignore as git reads it (gitignore(5)): nested files, negation, anchoring, `**`, folders only.
 * Reimplemented because git, run in a tree that strangers wrote, obeys the configuration in it. Paths have no
 * leading or trailing slash; all texts have one character per byte.
 */
interface Rule {
  isNegated: boolean;
  foldersOnly: boolean;
  glob: Glob;
  /** What every match begins and ends with: this settles most questions. */
  first: string;
  last: string;
  byName: boolean;
}

/** Longer patterns serve nobody and would only cost time. */
const LONGEST = 4096;
/** A third of a second: more than 100,000 files below 50 patterns take. */
const STEPS = 10_000_000;
/** For a character of a pattern file. */
const PARSE_STEPS = 8;

/** All answers together took too long. */
export class TooManySteps extends Error {
  constructor() {
    super('The patterns of the .gitignore files take too long to match.');
  }
}

export class Gitignore {
  readonly #byFolder = new Map<string, Rule[]>();
  readonly #folders = new Map<string, boolean>();
  readonly #budget: Budget = { steps: STEPS };

  /**
   * Adds the file of one folder ('' = the top). Add parents before the first question. Throws TooManySteps.
   */
  add(folder: string, text: string): void {
    this.#spend(text.length * PARSE_STEPS);
    const rules = text
      .replace(/^\u00ef\u00bb\u00bf/, '')
      .split('\n')
      .flatMap((line) => rule(line) ?? []);
    if (rules.length > 0) this.#byFolder.set(folder, rules.toReversed());
  }

  /**
   * Whether a file is ignored: by a pattern that matches it, or because a folder above it is. Throws
   * TooManySteps.
   */
  ignores(path: string): boolean {
    return this.ignoresFolder(parentOf(path)) || this.#matches(path, 'file');
  }

  /** Whether a whole folder is ignored: git never looks inside, so negations there have no effect. */
  ignoresFolder(path: string): boolean {
    const unknown: string[] = [];
    let folder = path,
      isIgnored: boolean | undefined;
    for (; folder !== ''; folder = parentOf(folder)) {
      this.#spend(1 + (folder.length >> 5));
      isIgnored = this.#folders.get(folder);
      if (isIgnored !== undefined) break;
      unknown.push(folder);
    }
    isIgnored ??= false;
    for (const one of unknown.toReversed()) {
      isIgnored ||= this.#matches(one, 'folder');
      this.#folders.set(one, isIgnored);
    }
    return isIgnored;
  }

  /** Whether the patterns name this path itself. */
  #matches(path: string, kind: 'file' | 'folder'): boolean {
    const parent = parentOf(path);
    // The nearest file with a matching pattern decides; in one file, the last pattern.
    for (
      let folder: string | undefined = parent;
      folder !== undefined;
      folder = folder === '' ? undefined : parentOf(folder)
    ) {
      this.#spend(1 + (folder.length >> 5));
      const rules = this.#byFolder.get(folder);
      if (!rules) continue;
      const relative = folder === '' ? path : path.slice(folder.length + 1);
      const name = relative.slice(relative.lastIndexOf('/') + 1);
      const decisive = rules.find(
        (rule) =>
          (kind === 'folder' || !rule.foldersOnly) && this.#isMatch(rule, rule.byName ? name : relative),
      );
      if (decisive) return !decisive.isNegated;
    }
    return false;
  }

  #isMatch({ glob, first, last }: Rule, text: string): boolean {
    this.#spend(1 + ((first.length + last.length) >> 5));
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    const isMatch = matchesGlob(glob, text, this.#budget);
    this.#spend(0);
    return isMatch;
  }

  #spend(steps: number): void {
    this.#budget.steps -= steps;
    if (this.#budget.steps < 0) throw new TooManySteps();
  }
}

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
  return glob && { isNegated, foldersOnly, byName, glob, ...literalEnds(glob) };
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
