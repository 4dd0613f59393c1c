import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Trims the working folder, in which a setup has ended, to what a layer may hold: regular files, folders, and
 * links that stay inside. Its stdin names the files that the setup was given, NUL-terminated, which are no part
 * of it. Arguments: a file for the folders that the caller has to remove as a whole, because they may be too
 * deep for paths; the number of entries that a layer may have, and of bytes that a listing of them may take;
 * names that it may not have, in lower case. Prints the number of entries that stay. Exits 75 where there are
 * more, 76 where their listing is longer.
 */
const [list = '', most = '0', longest = '0', ...reserved] = process.argv.slice(2);
const TOO_MANY = 75,
  TOO_LONG = 76;
/** What a listing says of each entry beside its path and target. */
const RECORD_BYTES = 64;
/** As many links as Linux follows. */
const LINKS = 40;
/** Below a folder with this path every name is still within the kernel's reach. */
const LONGEST_FOLDER = 3700;

/** Paths are text with one character per byte: a name need not be UTF-8. */
const root = process.cwd();
const raw = (path: string): Buffer => Buffer.from(path === '' ? '.' : path, 'latin1');
const given = new Set(readFileSync(0).toString('latin1').split('\0').filter(Boolean));

let entries = 0,
  listed = 0;
const whole: string[] = [];
const leaving: string[] = [];
const folders = [''];
for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
  for (const entry of readdirSync(raw(folder), { withFileTypes: true, encoding: 'buffer' })) {
    const name = entry.name.toString('latin1');
    const path = folder === '' ? name : `${folder}/${name}`;
    const isLeftOut = given.has(path) || reserved.includes(name.toLowerCase());
    if (entry.isDirectory()) {
      if (isLeftOut || path.length > LONGEST_FOLDER) {
        whole.push(path);
        continue;
      }
      folders.push(path);
    } else if (entry.isSymbolicLink() && !isLeftOut) {
      // Removed last: another link may lead through it.
      if (!staysInside(path)) leaving.push(path);
    } else if (isLeftOut || !entry.isFile()) {
      unlinkSync(raw(path));
      continue;
    }
    if (++entries > Number(most)) process.exit(TOO_MANY);
    const target = entry.isSymbolicLink() ? targetOf(path) : undefined;
    listed += RECORD_BYTES + path.length + (target?.length ?? 0);
    if (listed > Number(longest)) process.exit(TOO_LONG);
  }
}
for (const path of leaving) unlinkSync(raw(path));
for (const path of given) removeEmpty(path);
writeFileSync(list, whole.map((path) => `${path}\0`).join(''), 'latin1');
process.stdout.write(`${entries}\n`);

/** Whether a link leads nowhere outside on its whole way, through other links too. */
function staysInside(link: string): boolean {
  const at: string[] = link.split('/');
  let links = 0;
  for (let left = [at.pop()!]; left.length > 0;) {
    const name = left.shift()!;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (at.pop() === undefined) return false;
      continue;
    }
    at.push(name);
    const target = targetOf(at.join('/'));
    if (target === undefined) continue;
    if (++links > LINKS) return true;
    at.pop();
    if (target === root || target.startsWith(`${root}/`)) {
      at.length = 0;
      left = [...target.slice(root.length).split('/'), ...left];
    } else if (target.startsWith('/')) return false;
    else left = [...target.split('/'), ...left];
  }
  return true;
}

function targetOf(path: string): string | undefined {
  try {
    const isLink = lstatSync(raw(path), { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? readlinkSync(raw(path), 'latin1') : undefined;
  } catch {
    return undefined; // nothing can be there
  }
}

/** Removes the folders above a given file that have nothing in them any more. */
function removeEmpty(path: string): void {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(raw(folder));
    } catch {
      return;
    }
  }
}
