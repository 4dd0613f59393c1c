import { DEPENDENCY_FOLDERS, SPECIAL } from '../capture/rules.ts';
import type { Bind } from '../sandbox/driver.ts';
import { bytesOf, type Listed } from '../workspaces/listing.ts';
import type { Layer } from './layer-cache.ts';

/** Where the runner's own sandboxes find a layer. */
export const LAYER = '/run/headrace-layer';

/** A layer for one of the runner's own sandboxes. */
export const layerBind = ({ folder }: Layer): Bind => ({ host: folder, inside: LAYER, readOnly: true });

/**
 * What a tree has of its layer: entries as they were listed when nobody had touched them. A mounted layer's are
 * those of its own folder; the paths are the same.
 */
export class LayerView {
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

  /** Whether an entry is the layer's, at its path, and was never written since; or the same link. */
  isUntouched(entry: Listed): boolean {
    const known = this.#entries.get(bytesOf(entry));
    if (known?.kind !== entry.kind) return false;
    if (known.kind === 'link') return known.target === entry.target;
    return (
      known.inode === entry.inode &&
      known.changedAt === entry.changedAt &&
      known.mode === entry.mode &&
      (known.kind === 'folder' || known.byteSize === entry.byteSize)
    );
  }

  /**
   * Whether an entry is no part of a capture. A file whose name is not UTF-8 cannot be read by its path: the
   * layer's has to be recognized by its size.
   */
  covers(entry: Listed): boolean {
    return this.isUntouched(entry) || (entry.bytes !== undefined && this.isAlike(entry));
  }

  /** Whether a file may have the same content as the layer's at its path: size and executable bit agree. */
  isAlike(file: Listed): boolean {
    const known = this.#entries.get(bytesOf(file));
    return (
      known?.kind === 'file' &&
      file.kind === 'file' &&
      known.byteSize === file.byteSize &&
      (known.mode & 0o100) === (file.mode & 0o100)
    );
  }
}

/**
 * The view of a layer that was copied under a source: `all` is the tree's listing right after that. At the paths
 * of the source the layer's own entries stand for what a patch may put there. Dependency folders are not walked
 * by captures where the source has nothing in one, so their contents are not kept.
 */
export function viewOfCopy(source: Listed[], all: Listed[], ofLayer: Listed[]): LayerView {
  const own = new Set(source.filter(({ kind }) => kind !== 'folder').map(bytesOf));
  const copies = new Map(all.map((entry) => [bytesOf(entry), entry]));
  const isWalked = source.some(({ path }) => isInside(path));
  return new LayerView(
    ofLayer
      .filter(({ path }) => isWalked || !isInside(path))
      .map((entry) => {
        const copy = own.has(bytesOf(entry)) ? undefined : copies.get(bytesOf(entry));
        return copy?.kind === entry.kind ? copy : entry;
      }),
  );
}

/** Whether a path leads through a dependency folder. */
const isInside = (path: string): boolean =>
  SPECIAL.test(path) &&
  path
    .split('/')
    .slice(0, -1)
    .some((name) => DEPENDENCY_FOLDERS.has(name));
