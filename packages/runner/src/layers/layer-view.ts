import { DEPENDENCY_FOLDERS, SPECIAL } from '../capture/rules.ts';
import type { Bind } from '../sandbox/driver.ts';
import { bytesOf, FIND_FORMAT, type Listed } from '../workspaces/listing.ts';

/** Where the runner's own sandboxes find a layer. */
export const LAYER = '/run/headrace-layer';

/** A layer for one of the runner's own sandboxes. */
export const layerBind = ({ folder }: { folder: string }): Bind => ({
  host: folder,
  inside: LAYER,
  readOnly: true,
});

const DEPENDENCY_TESTS = [...DEPENDENCY_FOLDERS].map((name) => `-name '${name}'`).join(' -o ');
/** Lists the topmost dependency folders of a tree. */
export const LIST_DEPENDENCIES = `find . -mindepth 1 -type d \\( ${DEPENDENCY_TESTS} \\) -prune -printf '${FIND_FORMAT}'`;
/** Beyond it, a dependency folder is taken for untouched: a capture has no more warnings either. */
const DEPENDENCIES = 1000;

/** What a capture has to know of a tree's layer. */
export interface LayerSight {
  /** Whether an entry is no part of a capture. */
  covers(entry: Listed): boolean;
  /** Whether a file may have the same content as the layer's at its path: size and executable bit agree. */
  isAlike(file: Listed): boolean;
}

/** A layer's entries, for a tree that is mounted over it. */
export class LayerView implements LayerSight {
  readonly #entries = new Map<string, Listed>();

  /**
   * `listed`: with each entry, all folders above it, and before it. What lies below anything else was found
   * through a link, and is left out.
   */
  constructor(listed: Iterable<Listed>) {
    for (const entry of listed) {
      const path = bytesOf(entry);
      const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      if (folder === '' || this.#entries.get(folder)?.kind === 'folder') this.#entries.set(path, entry);
    }
  }

  /** The layer's entry of the same kind at an entry's path. */
  at(entry: Listed): Listed | undefined {
    const known = this.#entries.get(bytesOf(entry));
    return known?.kind === entry.kind ? known : undefined;
  }

  /** Whether an entry is the layer's, at its path, and was never written since; or the same link. */
  isUntouched(entry: Listed): boolean {
    const known = this.at(entry);
    if (!known) return false;
    return known.kind === 'link' ? known.target === entry.target : isSame(known, entry);
  }

  /**
   * The size tells of a file that no capture reads: new files in dependency folders are left out, and a name
   * that is not UTF-8 is no path.
   */
  covers(entry: Listed): boolean {
    const isUnread = entry.bytes !== undefined || isInside(entry.path);
    return this.isUntouched(entry) || (isUnread && this.isAlike(entry));
  }

  isAlike(file: Listed): boolean {
    const known = this.at(file);
    return (
      known?.kind === 'file' &&
      known.byteSize === file.byteSize &&
      (known.mode & 0o100) === (file.mode & 0o100)
    );
  }
}

/**
 * A layer's entries, for a tree with a copy of it. Every file counts as written, since writes through a memory
 * map change no times on tmpfs.
 */
export class CopyView implements LayerSight {
  readonly #layer: LayerView;
  readonly #dependencies: ReadonlyMap<string, Listed>;

  /** `dependencies`: the folders that LIST_DEPENDENCIES shows once the copy is made. */
  constructor(layer: LayerView, dependencies: Listed[]) {
    this.#layer = layer;
    this.#dependencies = new Map(dependencies.slice(0, DEPENDENCIES).map((entry) => [bytesOf(entry), entry]));
  }

  covers(entry: Listed): boolean {
    if (entry.kind !== 'folder') return this.#layer.covers(entry);
    const known = this.#dependencies.get(bytesOf(entry));
    return this.#layer.at(entry) !== undefined && (!known || isSame(known, entry));
  }

  isAlike(file: Listed): boolean {
    return this.#layer.isAlike(file);
  }
}

/** Whether two listings show the same entry, and nobody wrote it in between. */
const isSame = (known: Listed, entry: Listed): boolean =>
  known.inode === entry.inode &&
  known.changedAt === entry.changedAt &&
  known.mode === entry.mode &&
  (known.kind === 'folder' || known.byteSize === entry.byteSize);

/** Whether a path leads through a dependency folder. */
const isInside = (path: string): boolean =>
  SPECIAL.test(path) &&
  path
    .split('/')
    .slice(0, -1)
    .some((name) => DEPENDENCY_FOLDERS.has(name));
