import { DEPENDENCY_FOLDERS, SPECIAL } from '../capture/rules.ts';
import type { Bind } from '../sandbox/driver.ts';
import { bytesOf, type Listed } from '../workspaces/listing.ts';
import type { Layer } from './layer-cache.ts';

/** Where the runner's own sandboxes find a layer. */
export const LAYER = '/run/headrace-layer';

/** A layer for one of the runner's own sandboxes. */
export const layerBind = ({ folder }: Layer): Bind => ({ host: folder, inside: LAYER, readOnly: true });

/** What a tree has of its layer: entries as they were when nobody had touched them. */
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
   * Whether an entry is no part of a capture. The size tells of a file that no capture reads: new files in
   * dependency folders are left out, and a name that is not UTF-8 is no path.
   */
  covers(entry: Listed): boolean {
    const isUnread = entry.bytes !== undefined || isInside(entry.path);
    return this.isUntouched(entry) || (isUnread && this.isAlike(entry));
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
 * The view of a layer that was copied under a source. The files are the layer's own: a copy counts as written,
 * since writes through a memory map change no times on tmpfs. `folders`: those of the tree right after that.
 * Dependency folders are not walked by captures where the source has nothing in one, so their contents are not
 * kept.
 */
export function viewOfCopy(source: Listed[], folders: Listed[], ofLayer: Listed[]): LayerView {
  const copies = new Map(folders.map((entry) => [bytesOf(entry), entry]));
  const isWalked = source.some(({ path }) => isInside(path));
  return new LayerView(
    ofLayer
      .filter(({ path }) => isWalked || !isInside(path))
      .map((entry) => (entry.kind === 'folder' ? (copies.get(bytesOf(entry)) ?? entry) : entry)),
  );
}

/** Whether a path leads through a dependency folder. */
const isInside = (path: string): boolean =>
  SPECIAL.test(path) &&
  path
    .split('/')
    .slice(0, -1)
    .some((name) => DEPENDENCY_FOLDERS.has(name));
