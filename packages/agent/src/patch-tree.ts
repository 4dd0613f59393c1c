import { chmodSync, readdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { below, makeWay, statOf } from './paths.ts';
import { tarFiles } from './tar.ts';

/**
 * Writes the tar on stdin over the tree in the working folder. Its first entry `.headrace-patch.json` may
 * name what to delete first: { delete: string[] }. It runs inside the sandbox, so that links which an agent
 * planted lead nowhere; it still follows none.
 */
const root = process.cwd();

function remove(path: string): void {
  const file = below(root, path);
  const way = foldersAbove(file);
  for (const folder of way) {
    if (!statOf(folder)?.isDirectory()) return; // a link or file in its way: not a path of this tree
    openUp(folder);
  }
  clear(file);
  for (const folder of way.toReversed()) if (isEmpty(folder)) rmdirSync(folder);
}

/** From the root's child down to the file's parent. */
function foldersAbove(file: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(file); folder !== root; folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

/** An agent may have removed the write permission from its folders. */
function openUp(folder: string): void {
  const stat = statOf(folder);
  if (stat?.isDirectory() && (stat.mode & 0o700) !== 0o700) chmodSync(folder, stat.mode | 0o700);
}

/** Removes any entry at a path; opens closed folders inside first. */
function clear(file: string): void {
  try {
    rmSync(file, { recursive: true, force: true });
  } catch {
    openAll(file);
    rmSync(file, { recursive: true, force: true });
  }
}

function openAll(file: string): void {
  if (!statOf(file)?.isDirectory()) return;
  openUp(file);
  for (const name of readdirSync(file)) openAll(join(file, name));
}

function isEmpty(folder: string): boolean {
  return statOf(folder)?.isDirectory() === true && readdirSync(folder).length === 0;
}

function write(path: string, content: Buffer, executable: boolean): void {
  const file = below(root, path);
  makeWay(root, file);
  clear(file);
  writeFileSync(file, content, { flag: 'wx', mode: executable ? 0o755 : 0o644 });
}

openUp(root);
for (const { path, content, executable } of tarFiles(readFileSync(0))) {
  if (path === '.headrace-patch.json')
    (JSON.parse(content.toString()) as { delete: string[] }).delete.forEach(remove);
  else write(path, content, executable);
}
