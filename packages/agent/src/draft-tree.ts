import { chmodSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { below, PathError, statOf } from './paths.ts';

/** Contents are latin1 strings: one character per byte, so that files which are not UTF-8 survive. */
interface DraftFile {
  content: string;
  executable: boolean;
}

/** Changes to files below a root, held back until all of them are known to be possible. */
export class DraftTree {
  readonly #root: string;
  readonly #drafts = new Map<string, DraftFile | null>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Undefined when there is no such file. Throws PathError for anything but a regular file, and for paths
   * that leave the root.
   */
  read(path: string): DraftFile | undefined {
    const file = insideOf(this.#root, path);
    const draft = this.#drafts.get(file);
    if (draft !== undefined) return draft ?? undefined;
    const stat = statOf(file);
    if (!stat) return undefined;
    if (!stat.isFile()) throw new PathError(`${path}: not a regular file`);
    return { content: readFileSync(file, 'latin1'), executable: (stat.mode & 0o100) !== 0 };
  }

  write(path: string, draft: DraftFile): void {
    this.#drafts.set(insideOf(this.#root, path), draft);
  }

  remove(path: string): void {
    this.#drafts.set(insideOf(this.#root, path), null);
  }

  /** Writes everything; deletions first, so that a file may take a folder's place. */
  commit(): void {
    for (const [file, draft] of this.#drafts) if (draft === null) rmSync(file, { force: true });
    for (const [file, draft] of this.#drafts) {
      if (draft === null) continue;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, draft.content, 'latin1');
      const mode = statOf(file)!.mode & 0o777;
      const wanted = draft.executable ? mode | 0o111 : mode & ~0o111;
      if (mode !== wanted) chmodSync(file, wanted);
    }
  }
}

/**
 * The real location of a path below the root: follows links, and throws PathError where they lead out or
 * nowhere.
 */
export function insideOf(root: string, path: string): string {
  const top = realpathSync(root);
  let at = top;
  for (const name of relative(root, below(root, path)).split('/')) {
    const next = join(at, name);
    at = statOf(next)?.isSymbolicLink() ? followed(next, path) : next;
    if (at !== top && !at.startsWith(`${top}/`)) throw new PathError(`${path}: leaves the workspace`);
  }
  return at;
}

function followed(link: string, path: string): string {
  try {
    return realpathSync(link);
  } catch {
    throw new PathError(`${path}: goes through a broken link`);
  }
}
