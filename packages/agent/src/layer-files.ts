import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { statOf } from './paths.ts';

/**
 * Copies of a layer's entries in the working folder. What is there stays. Paths are text with one character per
 * byte, since a name need not be UTF-8.
 */
export class LayerFiles {
  readonly #layer: string;
  /** The copy of each file with several names. */
  readonly #firstOf = new Map<number, string>();

  constructor(layer: string) {
    this.#layer = layer;
  }

  /**
   * Copies everything below a folder of the layer ('' = all of it), which is a folder here too. Modes, times
   * and hard links are kept.
   */
  copyBelow(folder: string): void {
    const made: { path: string; stat: Stats }[] = [];
    const folders = [folder];
    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      for (const name of readdirSync(this.#from(next), 'buffer')) {
        const path = next === '' ? name.toString('latin1') : `${next}/${name.toString('latin1')}`;
        const stat = lstatSync(this.#from(path));
        if (!stat.isDirectory()) {
          if (!statOf(raw(path))) this.#copyEntry(path, stat);
          continue;
        }
        const there = statOf(raw(path));
        if (there && !there.isDirectory()) continue;
        if (!there) {
          mkdirSync(raw(path), { mode: stat.mode & 0o777 });
          made.push({ path, stat });
        }
        folders.push(path);
      }
    }
    // Each entry that was put into a folder has changed its time.
    for (const { path, stat } of made) utimesSync(raw(path), stat.atime, stat.mtime);
  }

  /** Copies what the layer has at a path, or at a folder above it, where nothing is there. */
  restore(path: string): void {
    const names = path.split('/');
    for (let depth = 1; depth <= names.length; depth++) {
      const here = names.slice(0, depth).join('/');
      const stat = statOf(this.#from(here));
      const there = statOf(raw(here));
      if (!stat || (there && !(there.isDirectory() && stat.isDirectory()))) return;
      if (there) continue;
      if (!stat.isDirectory()) return this.#copyEntry(here, stat);
      mkdirSync(raw(here), { mode: stat.mode & 0o777 });
      return this.copyBelow(here);
    }
  }

  #copyEntry(path: string, stat: Stats): void {
    const from = this.#from(path);
    if (stat.isSymbolicLink()) return symlinkSync(readlinkSync(from, 'buffer'), raw(path));
    const first = stat.nlink > 1 ? this.#firstOf.get(stat.ino) : undefined;
    if (first !== undefined) return linkSync(raw(first), raw(path));
    this.#firstOf.set(stat.ino, path);
    copyFileSync(from, raw(path));
    utimesSync(raw(path), stat.atime, stat.mtime);
  }

  #from(path: string): Buffer {
    return raw(`${this.#layer}/${path}`);
  }
}

const raw = (path: string): Buffer => Buffer.from(path, 'latin1');
