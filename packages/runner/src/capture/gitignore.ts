/**
 * .gitignore as git reads it (gitignore(5)): nested files, negation, anchoring, `**`, folders only. Written out because running git in
 * a tree that strangers wrote means running what its configuration says. Paths have no leading or trailing slash.
 */
interface Rule { isNegated: boolean; foldersOnly: boolean; expression: RegExp; byName: boolean }

/** Patterns longer than this are no one's intent and would only cost time. */
const LONGEST = 4096;

export class Gitignore {
  readonly #byFolder = new Map<string, Rule[]>();
  readonly #folders = new Map<string, boolean>();

  /** Adds the file of one folder ('' = the top). Add parents before asking. */
  add(folder: string, text: string): void {
    const rules = text.replace(/^\uFEFF/, '').split('\n').flatMap((line) => rule(line) ?? []);
    if (rules.length > 0) this.#byFolder.set(folder, rules.toReversed());
  }

  /** Whether a file is left out: by a pattern of its own, or because a folder above it is. */
  ignores(path: string): boolean {
    return this.#matches(path, false);
  }

  /** Whether a whole folder is left out: git then never looks inside, negations there have no effect. */
  ignoresFolder(path: string): boolean {
    let known = this.#folders.get(path);
    if (known === undefined) this.#folders.set(path, known = this.#matches(path, true));
    return known;
  }

  #matches(path: string, isFolder: boolean): boolean {
    const parent = parentOf(path);
    if (parent !== '' && this.ignoresFolder(parent)) return true;
    // The nearest file with a matching pattern decides; in one file, the last pattern.
    for (let folder: string | undefined = parent; folder !== undefined; folder = folder === '' ? undefined : parentOf(folder)) {
      const rules = this.#byFolder.get(folder);
      if (!rules) continue;
      const relative = folder === '' ? path : path.slice(folder.length + 1);
      const name = path.slice(path.lastIndexOf('/') + 1);
      const decisive = rules.find((r) => (isFolder || !r.foldersOnly) && r.expression.test(r.byName ? name : relative));
      if (decisive) return !decisive.isNegated;
    }
    return false;
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
  const source = pattern === '' ? undefined : globSource(pattern, byName);
  return source === undefined ? undefined : { isNegated, foldersOnly, byName, expression: new RegExp(`^${source}$`, 's') };
}

/** Trailing spaces count only where a backslash quotes them. */
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

/** A pattern as the source of a regular expression; undefined when it can match nothing (an open bracket, a lone backslash at the end). */
function globSource(pattern: string, byName: boolean): string | undefined {
  let out = '';
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    const atStart = at === 0 || pattern[at - 1] === '/';
    if (!byName && atStart && rest.startsWith('**/')) { out += '(?:[^/]+/)*'; at += rest.match(/^(?:\*\*\/)+/)![0].length; continue; }
    if (!byName && at > 0 && atStart && rest === '**') { out += '.+'; at += 2; continue; }
    const char = pattern[at]!;
    if (char === '*') { out += '[^/]*'; at += rest.match(/^\*+/)![0].length; continue; }
    if (char === '?') { out += '[^/]'; at++; continue; }
    if (char === '[') {
      const found = bracket(rest);
      if (!found) return undefined;
      out += found.source;
      at += found.length;
      continue;
    }
    if (char === '\\') {
      if (at + 1 >= pattern.length) return undefined;
      out += quoted(pattern[at + 1]!);
      at += 2;
      continue;
    }
    out += quoted(char);
    at++;
  }
  return out;
}

const CLASSES: Record<string, string> = {
  alnum: 'A-Za-z0-9', alpha: 'A-Za-z', blank: ' \\t', cntrl: '\\x00-\\x1f\\x7f', digit: '0-9', graph: '\\x21-\\x7e', lower: 'a-z', print: '\\x20-\\x7e',
  punct: '!-\\/:-@\\[-`{-~', space: '\\s', upper: 'A-Z', xdigit: '0-9A-Fa-f',
};

/** A bracket expression at the start of the text; a slash never matches one. */
function bracket(text: string): { source: string; length: number } | undefined {
  let at = 1, members = '';
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at++;
  for (let isFirst = true; ; isFirst = false) {
    const char = text[at];
    if (char === undefined) return undefined;
    if (char === ']' && !isFirst) break;
    const named = /^\[:([a-z]+):\]/.exec(text.slice(at));
    if (named) {
      const known = CLASSES[named[1]!];
      if (known === undefined) return undefined;
      members += known;
      at += named[0].length;
      continue;
    }
    const from = member(text, at);
    if (!from) return undefined;
    at = from.next;
    if (text[at] === '-' && text[at + 1] !== undefined && text[at + 1] !== ']') {
      const to = member(text, at + 1);
      if (!to) return undefined;
      at = to.next;
      if (from.char <= to.char) members += `${inClass(from.char)}-${inClass(to.char)}`;
    } else members += inClass(from.char);
  }
  const length = at + 1;
  if (members === '') return { source: isNegated ? '[^/]' : '(?!)', length };
  return { source: `(?!/)[${isNegated ? '^' : ''}${members}]`, length };
}

function member(text: string, at: number): { char: string; next: number } | undefined {
  const isQuoted = text[at] === '\\';
  const char = text[isQuoted ? at + 1 : at];
  return char === undefined ? undefined : { char, next: at + (isQuoted ? 2 : 1) };
}

const quoted = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
const inClass = (char: string): string => char.replace(/[\\\]^[-]/, '\\$&');
