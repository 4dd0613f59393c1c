import {
  chmodSync,
  createWriteStream,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Header } from 'tar-stream';
import { insideRoot } from '@headrace/runner/inside-root';
import { readTar } from './archive.ts';
import type { Content } from './archive.ts';
import type { Image } from './image.ts';

const WHITEOUT = '.wh.',
  OPAQUE = '.wh..wh..opq';

/**
 * Unpacks an image's layers into an empty folder, each over the ones before. Files belong to the user that
 * unpacks them, keep what their modes allow to others, and lose set-uid bits; devices and pipes are left out.
 * Nothing is written outside of the folder: a name that leads out of it ends the unpacking, and links in a
 * path are followed as a program in the root would follow them. Throws, with words for a person.
 */
export async function unpackLayers(root: string, { layers }: Image): Promise<void> {
  const folderModes = new Map<string, number>();
  for (const { blob, sha256 } of layers) {
    const layer = new Layer(root, folderModes);
    const found = await readTar(blob.file, (header, content) => layer.take(header, content));
    if (found !== sha256) throw new Error(`a layer does not match its digest: it has the SHA-256 ${found}`);
  }
  // A folder that its owner may not write could not have been filled.
  for (const [folder, mode] of folderModes) {
    // A later layer may have put a link in its place, or above it.
    const isThere = insideRoot(root, relative(root, folder)) === folder;
    if (isThere && lstatSync(folder).isDirectory()) chmodSync(folder, mode | 0o700);
  }
}

class Layer {
  readonly #root: string;
  readonly #folderModes: Map<string, number>;
  /** What this layer has made, which its own whiteouts do not remove. */
  readonly #made = new Set<string>();

  constructor(root: string, folderModes: Map<string, number>) {
    this.#root = root;
    this.#folderModes = folderModes;
  }

  async take(header: Header, content: Content): Promise<void> {
    const parts = partsOf(header.name);
    const name = parts.pop();
    if (name === undefined) return;
    const folder = this.#folder(parts, header.name);
    if (name === OPAQUE) return this.#clear(folder);
    if (name.startsWith(WHITEOUT))
      return this.#remove(join(folder, partsOf(name.slice(WHITEOUT.length)).join('/') || '.'));
    await this.#make(join(folder, name), header, content);
  }

  async #make(path: string, header: Header, content: Content): Promise<void> {
    const mode = (header.mode ?? 0) & 0o777;
    const before = lstatSync(path, { throwIfNoEntry: false });
    this.#note(path);
    if (header.type === 'directory') {
      if (before && !before.isDirectory()) rmSync(path);
      if (!before?.isDirectory()) mkdirSync(path);
      this.#folderModes.set(path, mode);
      return;
    }
    if (header.type === 'file' || header.type === 'contiguous-file') {
      rmSync(path, { recursive: true, force: true });
      await pipeline(content, createWriteStream(path, { flags: 'wx' }));
      chmodSync(path, mode | 0o400);
      if (header.mtime) utimesSync(path, header.mtime, header.mtime);
    } else if (header.type === 'symlink') {
      rmSync(path, { recursive: true, force: true });
      symlinkSync(header.linkname ?? '', path);
    } else if (header.type === 'link') this.#link(path, header);
  }

  #link(path: string, { name, linkname }: Header): void {
    const parts = partsOf(linkname);
    const last = parts.pop() ?? '';
    const target = join(this.#folder(parts, name), last);
    if (target === path) return;
    if (!lstatSync(target, { throwIfNoEntry: false })?.isFile())
      throw new Error(`${name} is a link to ${linkname}, which is no file of the image`);
    rmSync(path, { recursive: true, force: true });
    linkSync(target, path);
  }

  /** The real folder of an entry, made where no entry made it. */
  #folder(parts: string[], entry: string): string {
    let folder = this.#root;
    for (const part of parts) {
      const path = join(folder, part);
      if (!lstatSync(path, { throwIfNoEntry: false })) mkdirSync(path, { mode: 0o755 });
      const real = insideRoot(this.#root, relative(this.#root, path), () => {
        throw new Error(`${entry} leaves the root of the image`);
      });
      if (real === undefined || !lstatSync(real).isDirectory())
        throw new Error(`${entry} is below ${part}, which is no folder`);
      folder = real;
    }
    return folder;
  }

  #note(path: string): void {
    for (let at = path; at.length > this.#root.length; at = join(at, '..')) this.#made.add(at);
  }

  /** Removes what the layers below have at a path. */
  #remove(path: string): void {
    if (path.length <= this.#root.length) return;
    if (this.#made.has(path)) {
      if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) this.#clear(path);
    } else rmSync(path, { recursive: true, force: true });
  }

  #clear(folder: string): void {
    for (const name of readdirSync(folder)) this.#remove(join(folder, name));
  }
}

/** The parts of an entry's name below the root. Throws where it leads elsewhere. */
function partsOf(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || (name.startsWith('/') && parts.length > 0))
    throw new Error(`${name} leaves the root of the image`);
  return parts;
}
