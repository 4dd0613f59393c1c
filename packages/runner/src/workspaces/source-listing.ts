import { parseListing, type Listed } from './listing.ts';

/** The entries of a source tree, which nobody writes any more, as listed when it was made. */
export class SourceListing {
  /** Regular files, links and their folders. */
  readonly entries: Listed[];
  /** Disk space of the files, in bytes. */
  readonly byteSize: number;
  #byInode: Map<string, Listed> | undefined;
  #byFolder: Map<string, Listed[]> | undefined;
  #paths: Set<string> | undefined;
  #links: Map<string, string> | undefined;

  constructor(bytes: Buffer) {
    this.entries = parseListing(bytes);
    this.byteSize = this.entries.reduce((sum, { byteSize }) => sum + PAGE * Math.ceil(byteSize / PAGE), 0);
  }

  /** Whether it holds only what a source may hold, and no file has two names. */
  get isPlain(): boolean {
    return this.entries.every(
      ({ kind, links, bytes }) =>
        bytes === undefined && (kind === 'folder' || (kind !== 'other' && links === 1)),
    );
  }

  /** Its symbolic links. */
  get links(): ReadonlyMap<string, string> {
    return (this.#links ??= linksOf(this.entries));
  }

  /** Paths of its files. */
  get paths(): ReadonlySet<string> {
    return (this.#paths ??= new Set(this.entries.flatMap(({ kind, path }) => (kind === 'file' ? path : []))));
  }

  /** The entry that another listing shows, if it is the same and was never written. */
  same({ inode, changedAt, kind, mode, byteSize }: Listed): Listed | undefined {
    this.#byInode ??= new Map(this.entries.map((entry) => [entry.inode, entry]));
    const known = this.#byInode.get(inode);
    return known?.changedAt === changedAt &&
      known.kind === kind &&
      known.mode === mode &&
      (kind === 'folder' || known.byteSize === byteSize)
      ? known
      : undefined;
  }

  /** What lies directly in one of its folders ('' = the top). */
  childrenOf(folder: string): Listed[] {
    this.#byFolder ??= Map.groupBy(this.entries, ({ path }) =>
      path.slice(0, Math.max(0, path.lastIndexOf('/'))),
    );
    return this.#byFolder.get(folder) ?? [];
  }
}

/** Path and target of the symbolic links among these; a target has one character per byte. */
export const linksOf = (entries: Listed[]): Map<string, string> =>
  new Map(entries.flatMap(({ path, target }) => (target === undefined ? [] : [[path, target]])));

const PAGE = 4096;
