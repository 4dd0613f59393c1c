/** The files, folders and symbolic links of an archive as a file system in which links can be followed. */
import { MAX_FILES, type Place } from './bundle-rules.ts';
import type { Content } from './content.ts';

/** As deep as Linux follows. */
const MAX_HOPS = 40;
const MAX_PATH = 1_024;
/** Entries looked at for all links of an archive: far beyond those of real ones, and less than a second. */
const MAX_STEPS = 2_000_000;

/** The links multiply each other. */
export class TooManySteps extends Error {}

export interface ArchiveFile extends Place {
  /** Otherwise the path is only for people. */
  isUtf8: boolean;
  byteSize: number;
  executable: boolean;
  /** Null where a limit is exceeded. */
  content: Content | null;
}

export interface ArchiveEntry extends ArchiveFile {
  kind: 'file' | 'folder' | 'symlink' | 'hardlink';
  target: string | null;
}

class Folder {
  readonly parent: Folder | null;
  readonly children = new Map<string, Node>();

  constructor(parent: Folder | null) {
    this.parent = parent;
  }
}
/** A folder, file or symbolic link. */
type Node = Folder | ArchiveEntry;

interface Found {
  node: Node;
  /** Links on the way. */
  hops: number;
}

type Warn = (path: string, reason: string) => void;

export class LinkTree {
  readonly #root = new Folder(null);
  /** The folder of each link. */
  readonly #folders = new Map<ArchiveEntry, Folder>();
  readonly #found = new Map<ArchiveEntry, Found | string>();
  readonly #linksBelow = new Map<Folder, ArchiveEntry[]>();
  #steps = 0;

  /** The paths have passed `checkPath`. Where two entries have one path, a link gives way. */
  constructor(entries: readonly ArchiveEntry[]) {
    for (const entry of entries) if (entry.kind !== 'symlink') this.#place(entry);
    for (const entry of entries) if (entry.kind === 'symlink') this.#place(entry);
  }

  /** Whether the link is what its path names. */
  has(link: ArchiveEntry): boolean {
    return this.#folders.get(link)?.children.get(nameOf(link.path)) === link;
  }

  /** Where the link leads to, or why that is no file and no folder of which it can be a copy. */
  follow(link: ArchiveEntry): Found | string {
    const found = this.#find(link);
    if (typeof found !== 'string' && found.node instanceof Folder && this.#holds(found.node, link))
      return 'leads to a folder that holds it';
    return found;
  }

  /** The files that `link` becomes, under its path. What links inside of its folder hide is warned of. */
  copiesOf(link: ArchiveEntry, { node, hops }: Found, warn: Warn): ArchiveFile[] {
    const copies: ArchiveFile[] = [];
    this.#copy(node, link.path, { index: link.index, hops, warn, copies });
    return copies;
  }

  #copy(
    node: Node,
    path: string,
    into: { index: number; hops: number; warn: Warn; copies: ArchiveFile[] },
  ): void {
    const { index, hops, warn, copies } = into;
    this.#step();
    // There are too many already.
    if (copies.length > MAX_FILES) return;
    // As a file it breaks the rule for paths, as all below it would.
    if (path.length > MAX_PATH) copies.push(emptyFile(index, path));
    else if (node instanceof Folder)
      for (const [name, child] of node.children) this.#copy(child, `${path}/${name}`, into);
    else if (node.kind === 'file') copies.push({ ...node, index, path });
    else {
      // A link that is left out where it is has been warned of there.
      const found = this.follow(node);
      if (typeof found === 'string') return;
      if (hops + found.hops > MAX_HOPS) warn(path, TOO_DEEP);
      else this.#copy(found.node, path, { ...into, hops: hops + found.hops });
    }
  }

  #place(entry: ArchiveEntry): void {
    const names = entry.path.split('/');
    // Of a folder it is empty where the path ends with a slash.
    const own = entry.kind === 'folder' ? '' : names.pop()!;
    let folder = this.#root;
    for (const name of names.filter((n) => n !== '')) {
      const next = folder.children.get(name) ?? new Folder(folder);
      if (!(next instanceof Folder)) return;
      folder.children.set(name, next);
      folder = next;
    }
    if (entry.kind === 'symlink') this.#folders.set(entry, folder);
    if (own !== '' && !folder.children.has(own)) folder.children.set(own, entry);
  }

  #find(link: ArchiveEntry): Found | string {
    let found = this.#found.get(link);
    if (found === undefined) this.#found.set(link, (found = this.#walk(link)));
    return found;
  }

  #walk(link: ArchiveEntry): Found | string {
    let folder = this.#folders.get(link);
    if (!folder) return 'is below another link';
    /** What is left of the way, the next name last. */
    const names: string[] = [];
    let node: Node = link;
    let hops = 0;
    for (;;) {
      this.#step();
      if (node instanceof Folder) folder = node;
      else if (node.kind === 'symlink') {
        if (++hops > MAX_HOPS) return TOO_DEEP;
        if (!node.target || node.target.length > MAX_PATH) return LEADS_NOWHERE;
        if (node.target.startsWith('/')) return LEADS_OUT;
        names.push(...node.target.split('/').toReversed());
      } else return names.length === 0 ? { node, hops } : LEADS_NOWHERE;
      const name = names.pop();
      if (name === undefined) return { node, hops };
      const next: Node | null | undefined =
        name === '' || name === '.' ? folder : name === '..' ? folder.parent : folder.children.get(name);
      if (!next) return name === '..' ? LEADS_OUT : LEADS_NOWHERE;
      node = next;
    }
  }

  /** Whether a copy of the folder would need a copy of the link itself. */
  #holds(folder: Folder, link: ArchiveEntry): boolean {
    for (let above = this.#folders.get(link) ?? null; above; above = above.parent)
      if (above === folder) return true;
    const seen = new Set<ArchiveEntry>();
    for (const folders = [folder]; folders.length > 0;)
      for (const inside of this.#linksIn(folders.pop()!)) {
        this.#step();
        if (inside === link) return true;
        if (seen.has(inside)) continue;
        seen.add(inside);
        const found = this.#find(inside);
        if (typeof found !== 'string' && found.node instanceof Folder) folders.push(found.node);
      }
    return false;
  }

  /** The links below a folder, without following any. */
  #linksIn(folder: Folder): ArchiveEntry[] {
    let links = this.#linksBelow.get(folder);
    if (!links) {
      links = [];
      for (const nodes: Node[] = [folder]; nodes.length > 0;) {
        this.#step();
        const node = nodes.pop()!;
        if (node instanceof Folder) nodes.push(...node.children.values());
        else if (node.kind === 'symlink') links.push(node);
      }
      this.#linksBelow.set(folder, links);
    }
    return links;
  }

  #step(): void {
    if (++this.#steps > MAX_STEPS) throw new TooManySteps();
  }
}

const LEADS_NOWHERE = 'leads to no file or folder of the archive';
const LEADS_OUT = 'leads out of the archive';
const TOO_DEEP = `leads in a circle, or through more than ${MAX_HOPS} links`;

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const emptyFile = (index: number, path: string): ArchiveFile => ({
  index,
  path,
  isUtf8: true,
  byteSize: 0,
  executable: false,
  content: null,
});
