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

/**
 * Copies a layer (its argument) under the files in the working folder: what is there stays, and wins at, above
 * and below its path. Modes, times and hard links inside the layer are kept.
 */
const layer = process.argv[2]!;

/** Paths are text with one character per byte: a name need not be UTF-8. */
const raw = (path: string): Buffer => Buffer.from(path, 'latin1');
const firstOf = new Map<number, string>();
const made: { path: string; stat: Stats }[] = [];

const folders = ['.'];
for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
  for (const entry of readdirSync(raw(`${layer}/${folder}`), { withFileTypes: true, encoding: 'buffer' })) {
    const path = `${folder}/${entry.name.toString('latin1')}`;
    const there = lstatSync(raw(path), { throwIfNoEntry: false });
    if (entry.isDirectory()) {
      if (there && !there.isDirectory()) continue;
      if (!there) makeFolder(path);
      folders.push(path);
    } else if (there) continue;
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(raw(`${layer}/${path}`), 'buffer'), raw(path));
    else copyFile(path);
  }
}
// Each file that was put into a folder has changed its time.
for (const { path, stat } of made) utimesSync(raw(path), stat.atime, stat.mtime);

function makeFolder(path: string): void {
  const stat = lstatSync(raw(`${layer}/${path}`));
  mkdirSync(raw(path), { mode: stat.mode & 0o777 });
  made.push({ path, stat });
}

function copyFile(path: string): void {
  const from = raw(`${layer}/${path}`);
  const stat = lstatSync(from);
  const first = stat.nlink > 1 ? firstOf.get(stat.ino) : undefined;
  if (first !== undefined) return linkSync(raw(first), raw(path));
  firstOf.set(stat.ino, path);
  copyFileSync(from, raw(path));
  utimesSync(raw(path), stat.atime, stat.mtime);
}
