import { chmodSync, readdirSync, readFileSync, rmSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LayerFiles } from './layer-files.ts';
import { below, makeWay, statOf } from './paths.ts';
import { tarFiles, type TarFile } from './tar.ts';

/**
 * Writes the tar on stdin over the tree in the working folder. Its first entry `.headrace-patch.json` may
 * name what to delete first: { delete: string[], deleteBytes?: string[] }, the latter with one character per
 * byte, since a name need not be UTF-8. What the tree's layer (an argument, where it has one) has at their paths
 * shows then. Prints the paths of the files that it wrote, NUL-terminated. It runs inside the sandbox, so that links which an agent planted lead
 * nowhere; it still follows none.
 */
const root = process.cwd();
const layer = process.argv[2] === undefined ? undefined : new LayerFiles(process.argv[2]);

/** Everything that is removed goes by the bytes of its path, as text with one character per byte. */
const bytesOf = (path: string): string => Buffer.from(path).toString('latin1');
const raw = (path: string): Buffer => Buffer.from(path, 'latin1');

function remove(path: string): void {
  const file = below(bytesOf(root), path);
  const way = foldersAbove(file);
  for (const folder of way) {
    if (!statOf(raw(folder))?.isDirectory()) return; // a link or file in its way: not a path of this tree
    openUp(folder);
  }
  clear(file);
  for (const folder of way.toReversed()) if (isEmpty(folder)) rmdirSync(raw(folder));
  layer?.restore(file.slice(root.length + 1));
}

/** From the root's child down to the file's parent. */
function foldersAbove(file: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(file); folder !== bytesOf(root); folder = dirname(folder))
    folders.unshift(folder);
  return folders;
}

/** An agent may have removed the write permission from its folders. */
function openUp(folder: string): void {
  const stat = statOf(raw(folder));
  if (stat?.isDirectory() && (stat.mode & 0o700) !== 0o700) chmodSync(raw(folder), stat.mode | 0o700);
}

/** Removes any entry at a path; opens closed folders inside first. */
function clear(file: string): void {
  try {
    rmSync(raw(file), { recursive: true, force: true });
  } catch {
    openAll(file);
    rmSync(raw(file), { recursive: true, force: true });
  }
}

function openAll(file: string): void {
  if (!statOf(raw(file))?.isDirectory()) return;
  openUp(file);
  for (const name of readdirSync(raw(file), 'buffer')) openAll(join(file, name.toString('latin1')));
}

function isEmpty(folder: string): boolean {
  return statOf(raw(folder))?.isDirectory() === true && readdirSync(raw(folder), 'buffer').length === 0;
}

function write({ path, content, executable, target }: TarFile): void {
  const file = below(root, path);
  makeWay(root, file);
  clear(bytesOf(file));
  if (target !== undefined) symlinkSync(target, file);
  else writeFileSync(file, content, { flag: 'wx', mode: executable ? 0o755 : 0o644 });
}

const written: string[] = [];
openUp(bytesOf(root));
for (const file of tarFiles(readFileSync(0))) {
  if (file.path === '.headrace-patch.json') {
    const gone = JSON.parse(file.content.toString()) as { delete: string[]; deleteBytes?: string[] };
    for (const name of [...gone.delete.map(bytesOf), ...(gone.deleteBytes ?? [])]) remove(name);
  } else {
    write(file);
    if (file.target === undefined) written.push(file.path);
  }
}
process.stdout.write(written.map((path) => `${path}\0`).join(''));
