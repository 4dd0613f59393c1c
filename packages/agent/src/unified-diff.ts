import type { DraftTree } from './draft-tree.ts';
import { PatchError } from './patch-error.ts';

/** Lines keep their line end; the last line of a file or hunk may have none. */
interface Hunk {
  oldStart: number;
  old: string[];
  new: string[];
}

/** One file of a unified diff. Null paths are /dev/null. */
interface FileDiff {
  oldPath: string | null;
  newPath: string | null;
  isCopy: boolean;
  executable: boolean | undefined;
  hunks: Hunk[];
}

/**
 * Reads plain and git-style unified diffs from a latin1 string; skips text between files. Throws PatchError.
 */
export function parseUnifiedDiff(text: string): FileDiff[] {
  const lines = linesOf(text);
  const files: FileDiff[] = [];
  for (let at = 0; at < lines.length;) {
    const line = bare(lines[at]!);
    const isGit = line.startsWith('diff --git ');
    const isPlain = line.startsWith('--- ') && bare(lines[at + 1] ?? '').startsWith('+++ ');
    if (!isGit && !isPlain) {
      if (line.startsWith('@@ -')) throw new PatchError(`a hunk without a file: ${line}`);
      at++;
      continue;
    }
    const found = isGit ? gitFile(lines, at) : plainFile(lines, at);
    files.push(found.file);
    at = found.next;
  }
  if (files.length === 0) throw new PatchError('no change was found in the patch');
  return files;
}

/**
 * Applies the files in order; returns one line per file that says what was done. Throws PatchError where
 * something does not fit.
 */
export function applyUnifiedDiff(tree: DraftTree, files: FileDiff[]): string[] {
  return files.map((file) => applyFile(tree, file));
}

function applyFile(tree: DraftTree, { oldPath, newPath, isCopy, executable, hunks }: FileDiff): string {
  if (oldPath === null && newPath === null) throw new PatchError('a file from /dev/null to /dev/null');
  if (oldPath === null) {
    if (tree.read(newPath!)) throw new PatchError(`${newPath}: exists already`);
    tree.write(newPath!, { content: applyHunks('', hunks, newPath!), executable: executable ?? false });
    return `added ${newPath}`;
  }
  const old = tree.read(oldPath);
  if (!old) throw new PatchError(`${oldPath}: no such file`);
  const content = applyHunks(old.content, hunks, oldPath);
  if (newPath === null) {
    if (content !== '') throw new PatchError(`${oldPath}: the deletion leaves content behind`);
    tree.remove(oldPath);
    return `deleted ${oldPath}`;
  }
  if (newPath !== oldPath && tree.read(newPath)) throw new PatchError(`${newPath}: exists already`);
  if (newPath !== oldPath && !isCopy) tree.remove(oldPath);
  tree.write(newPath, { content, executable: executable ?? old.executable });
  return newPath === oldPath
    ? `changed ${newPath}`
    : `${isCopy ? 'copied' : 'renamed'} ${oldPath} to ${newPath}`;
}

/**
 * Applies each hunk where its old lines are: at the line that it names, shifted by earlier hunks, or else at
 * the nearest place after the previous hunk.
 */
function applyHunks(content: string, hunks: Hunk[], path: string): string {
  const lines = linesOf(content);
  let done = 0,
    offset = 0;
  const out: string[] = [];
  for (const hunk of hunks) {
    const expected = Math.max(0, hunk.oldStart - (hunk.old.length === 0 ? 0 : 1)) + offset;
    const place = placeOf(lines, hunk.old, expected, done);
    if (place === undefined) throw new PatchError(`${path}: the hunk at line ${hunk.oldStart} does not fit`);
    out.push(...lines.slice(done, place), ...hunk.new);
    done = place + hunk.old.length;
    offset = place - (expected - offset);
  }
  const result = [...out, ...lines.slice(done)];
  if (result.slice(0, -1).some((line) => !line.endsWith('\n')))
    throw new PatchError(`${path}: a line without an end stands before the last`);
  return result.join('');
}

function placeOf(lines: string[], wanted: string[], expected: number, from: number): number | undefined {
  const fits = (at: number): boolean =>
    at >= from && at + wanted.length <= lines.length && wanted.every((line, i) => lines[at + i] === line);
  for (let distance = 0; distance <= lines.length; distance++) {
    if (fits(expected + distance)) return expected + distance;
    if (fits(expected - distance)) return expected - distance;
  }
  return undefined;
}

function plainFile(lines: string[], at: number): { file: FileDiff; next: number } {
  const [oldPath, newPath] = stripped(
    headerPath(bare(lines[at]!).slice(4)),
    headerPath(bare(lines[at + 1]!).slice(4)),
  );
  const { hunks, next } = readHunks(lines, at + 2);
  if (hunks.length === 0) throw new PatchError(`${newPath ?? oldPath}: no hunk`);
  // Without git's header a new name is not a rename; it names the file, as patch(1) takes it.
  return {
    file: {
      oldPath: oldPath === null ? null : (newPath ?? oldPath),
      newPath,
      isCopy: false,
      executable: undefined,
      hunks,
    },
    next,
  };
}

const GIT_FIELDS = [
  ['new file mode', 'deleted file mode', 'old mode', 'new mode'],
  ['rename from', 'rename to', 'copy from', 'copy to'],
  ['similarity index', 'dissimilarity index', 'index'],
].flat();
const GIT_FIELD = new RegExp(`^(${GIT_FIELDS.join('|')}) (.*)$`);

function gitFile(lines: string[], start: number): { file: FileDiff; next: number } {
  const header = bare(lines[start]!);
  const seen: Record<string, string> = {};
  let at = start + 1;
  for (; at < lines.length; at++) {
    const line = bare(lines[at]!);
    const found = GIT_FIELD.exec(line);
    if (!found) break;
    seen[found[1]!] = found[2]!;
  }
  if (/^(?:GIT binary patch|Binary files )/.test(lines[at] ?? ''))
    throw new PatchError(`${header}: binary patches are not supported`);
  for (const mode of ['new file mode', 'new mode'])
    if (seen[mode] !== undefined && !/^100\d{3}$/.test(seen[mode]))
      throw new PatchError(`${header}: mode ${seen[mode]} is no regular file`);
  let [oldPath, newPath]: [string | null, string | null] = pathsOfGitHeader(header);
  if (bare(lines[at] ?? '').startsWith('--- ') && bare(lines[at + 1] ?? '').startsWith('+++ ')) {
    [oldPath, newPath] = stripped(
      headerPath(bare(lines[at]!).slice(4)),
      headerPath(bare(lines[at + 1]!).slice(4)),
    );
    at += 2;
  }
  const from = seen['rename from'] ?? seen['copy from'],
    to = seen['rename to'] ?? seen['copy to'];
  if (from !== undefined && to !== undefined) [oldPath, newPath] = [unquoted(from), unquoted(to)];
  if (seen['new file mode'] !== undefined) oldPath = null;
  if (seen['deleted file mode'] !== undefined) newPath = null;
  const mode = seen['new file mode'] ?? seen['new mode'];
  const { hunks, next } = readHunks(lines, at);
  return {
    file: {
      oldPath,
      newPath,
      isCopy: seen['copy from'] !== undefined,
      executable: mode === undefined ? undefined : (Number.parseInt(mode, 8) & 0o100) !== 0,
      hunks,
    },
    next,
  };
}

function readHunks(lines: string[], start: number): { hunks: Hunk[]; next: number } {
  const hunks: Hunk[] = [];
  let at = start;
  while (at < lines.length) {
    const found = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[at]!);
    if (!found) break;
    const hunk: Hunk = { oldStart: Number(found[1]), old: [], new: [] };
    let oldLeft = Number(found[2] ?? 1),
      newLeft = Number(found[3] ?? 1);
    at++;
    let last: string[][] = [];
    for (; at < lines.length && (oldLeft > 0 || newLeft > 0 || lines[at]!.startsWith('\\')); at++) {
      const line = lines[at]!;
      const [sign, text] = line === '\n' || line === '\r\n' ? [' ', line] : [line[0], line.slice(1)];
      if (sign === '\\') {
        for (const side of last) side.push(side.pop()!.replace(/\n$/, ''));
        continue;
      }
      last = sign === ' ' ? [hunk.old, hunk.new] : sign === '-' ? [hunk.old] : sign === '+' ? [hunk.new] : [];
      if (last.length === 0) break;
      if (last.includes(hunk.old)) oldLeft--;
      if (last.includes(hunk.new)) newLeft--;
      for (const side of last) side.push(text);
    }
    if (oldLeft !== 0 || newLeft !== 0)
      throw new PatchError(`the hunk ${bare(found[0])} does not have the lines that it announces`);
    hunks.push(hunk);
  }
  return { hunks, next: at };
}

/** `--- a/x` and `+++ b/x` without their first segment when both have git's prefixes. */
function stripped(oldPath: string | null, newPath: string | null): [string | null, string | null] {
  const hasPrefix = (path: string | null, prefix: string): boolean =>
    path === null || path.startsWith(prefix);
  if (!hasPrefix(oldPath, 'a/') || !hasPrefix(newPath, 'b/')) return [oldPath, newPath];
  return [oldPath?.slice(2) ?? null, newPath?.slice(2) ?? null];
}

/** A name in a header line, which may be quoted and followed by a tab and a time. */
function headerPath(text: string): string | null {
  const name = text.startsWith('"')
    ? unquoted(text.slice(0, text.lastIndexOf('"') + 1))
    : unquoted(text.split('\t')[0]!.trimEnd());
  return name === '/dev/null' ? null : name;
}

/**
 * `diff --git a/x b/x`: when both names are equal, the header is split in the middle; other headers repeat
 * their names in further lines.
 */
function pathsOfGitHeader(header: string): [string, string] {
  const text = header.slice('diff --git '.length);
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(text);
  const half = (text.length - 1) / 2;
  const [a, b] = quoted
    ? [unquoted(quoted[1]!), unquoted(quoted[2]!)]
    : [text.slice(0, half), text.slice(half + 1)];
  return stripped(a, b) as [string, string];
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };

/** Undoes git's C-style quoting; octal escapes are bytes. The result is decoded as UTF-8, as paths are. */
function unquoted(text: string): string {
  const inner = /^"(.*)"$/s.exec(text)?.[1];
  const bytes =
    inner === undefined
      ? text
      : inner.replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
          /^[0-7]{3}$/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
        );
  return Buffer.from(bytes, 'latin1').toString();
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
const bare = (line: string): string => line.replace(/\r?\n$/, '');
