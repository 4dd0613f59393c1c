import type { CopyView } from '../layers/layer-view.ts';
import type { Bind } from '../sandbox/driver.ts';
import type { Layer } from '../layers/layer-cache.ts';
import type { Overlay } from './overlay.ts';
import type { SourceTree } from './tree-cache.ts';

/** What a tree lies over. */
export interface Over {
  source: SourceTree;
  overlay: Overlay;
  /** The layers of the mount, the topmost first. */
  lowers: string[];
  /** The `.git` below what is written, where the tree came with the history of its repository. */
  history?: SourceTree | undefined;
}

/** A folder of files that sandboxes mount at /workspace. The host itself never opens a path inside it. */
export interface Tree {
  /** Holds what was written; the files of a source tree below it are elsewhere. */
  folder: string;
  bind(how: Pick<Bind, 'readOnly'>): Bind;
  /** The symbolic links that came with its files: path → target, with one character per byte. */
  links: ReadonlyMap<string, string>;
  /** Whether it came with a `.git` that has the history of its repository. */
  hasHistory: boolean;
  /** The layer of its setup: mounted below the source tree, or copied where there is none. */
  layer?: Layer | undefined;
  /** What was copied of the layer, as it was then. */
  placed?: CopyView | undefined;
  /** Where it has a layer: paths of files of its source that were copied, or written by patches. */
  sourcePaths?: string[] | undefined;
  /** Where it lies over a source tree. */
  over?: Over;
}
