import type { Bind } from '../sandbox/driver.ts';
import type { Dependencies } from './dependency-cache.ts';
import type { Overlay } from './overlay.ts';
import type { SourceTree } from './tree-cache.ts';

/** What a tree lies over, and the project whose installed dependencies it shares. */
export interface Over {
  source: SourceTree;
  overlay: Overlay;
  /** The layers of the mount, the topmost first. */
  lowers: string[];
  group?: string | undefined;
  /** The runtime that it was restored for; undefined: the driver's own system. */
  runtime?: string | undefined;
  dependencies?: Dependencies | undefined;
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
  /** Where it lies over a source tree. */
  over?: Over;
}
