import { isUtf8 } from 'node:buffer';
import { checkPath } from '../../trees/paths.ts';
import type { Tree } from '../../trees/tree.ts';

/** Symbolic links: path → target. */
export type Links = ReadonlyMap<string, string>;

/** The kernel follows no more of them, and takes no longer target. */
const MAX_HOPS = 40;
export const MAX_TARGET_BYTES = 4095;
/** Parts of paths that are walked for a commit, in some 100 ms: real ones take some ten for a link. */
const MAX_STEPS = 2_000_000;

/** A link's target as text; null where no link of a workspace may lead there. */
export function targetOf(content: Buffer): string | null {
  if (content.length === 0 || content.length > MAX_TARGET_BYTES || content.includes(0)) return null;
  return isUtf8(content) && content[0] !== 0x2f ? content.toString('utf8') : null;
}

/**
 * Those of a commit's links that may be in a workspace: at a path that a source may have too, and leading to
 * a place within the repository, there or not, whatever links are on the way. `all`: every link of the
 * commit; null for a target that is none for a workspace.
 */
export function innerLinks(all: ReadonlyMap<string, string | null>): Links {
  const walk = new Walk(all);
  return new Map(
    [...all].flatMap(([path, target]) =>
      target !== null && checkPath(path) === null && walk.staysInside(path) ? [[path, target]] : [],
    ),
  );
}

/** A folder of links, or a link. */
interface Node {
  below: Map<string, Node>;
  target?: string | null;
}

/** Walks from links to where they lead, part by part, as the kernel does. */
class Walk {
  readonly #root: Node = { below: new Map() };
  #steps = 0;

  constructor(all: ReadonlyMap<string, string | null>) {
    for (const [path, target] of all) {
      // A longer path is none of a workspace; what leads there leads nowhere.
      if (path.length > MAX_TARGET_BYTES) continue;
      let node = this.#root;
      for (const part of path.split('/')) {
        const next = node.below.get(part) ?? { below: new Map() };
        node.below.set(part, next);
        node = next;
      }
      node.target = target;
    }
  }

  staysInside(link: string): boolean {
    /** Null where there are no links. */
    const at: (Node | null)[] = [this.#root];
    const rest = link.split('/').toReversed();
    for (let hops = 0; rest.length > 0;) {
      const part = rest.pop()!;
      if (++this.#steps > MAX_STEPS) return false;
      if (part === '' || part === '.') continue;
      if (part === '..') {
        if (at.length === 1) return false;
        at.pop();
        continue;
      }
      const next: Node | null = at.at(-1)?.below.get(part) ?? null;
      if (next?.target === undefined) {
        at.push(next);
        continue;
      }
      if (next.target === null || next.target.startsWith('/') || ++hops > MAX_HOPS) return false;
      rest.push(...next.target.split('/').toReversed());
    }
    return true;
  }
}

/** The links that are in a workspace with these files: a file at, above or below a link's path wins. */
export function linksBeside(links: Links, files: Tree): Links {
  if (links.size === 0) return links;
  const hidden = new Set<string>();
  for (const path of links.keys())
    if (files.has(path) || foldersAbove(path).some((folder) => files.has(folder))) hidden.add(path);
  for (const path of files.keys())
    for (const folder of foldersAbove(path)) if (links.has(folder)) hidden.add(folder);
  return hidden.size === 0 ? links : new Map([...links].filter(([path]) => !hidden.has(path)));
}

function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}
