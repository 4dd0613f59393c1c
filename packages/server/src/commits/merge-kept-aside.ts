import type { Context } from '../context.ts';
import { runGit } from '../git/run-git.ts';
import type { GitEntry } from '../git/build-commit.ts';
import type { OpenRepository } from '../scm/index.ts';
import type { Tree } from '../trees/tree.ts';
import { openCache } from './cache.ts';

/** An entry of a commit that is in no source, as the other side has it; null: the other side has removed it. */
export interface KeptAsideChange {
  path: Buffer;
  entry: GitEntry | null;
}

/** A commit with the files of its source. */
interface Side {
  commitSha: string;
  tree: Tree;
}

type Changed = Map<string, { was: GitEntry | null; now: GitEntry | null }>;

const sameGit = (a: GitEntry | null, b: GitEntry | null): boolean => a?.id === b?.id && a?.mode === b?.mode;

/**
 * Merges what commits have and sources cannot, as git does: what one side alone changed is taken, a path that
 * both changed differently is a conflict. `changes` turn our entries into the result's; a path in conflict
 * keeps ours. `merged`: the merged files, where there are any; a new entry at, above or below one of them is a
 * conflict too.
 */
export async function mergeKeptAside(
  ctx: Pick<Context, 'config'>,
  repository: OpenRepository,
  { base, ours, theirs, merged }: { base: Side; ours: Side; theirs: Side; merged?: Tree },
): Promise<{ changes: KeptAsideChange[]; conflicts: string[] }> {
  const { dir } = await openCache(ctx, repository);
  const [byUs, byThem] = await Promise.all([
    changedEntries(dir, base.commitSha, ours.commitSha),
    changedEntries(dir, base.commitSha, theirs.commitSha),
  ]);
  const changes: KeptAsideChange[] = [],
    conflicts: string[] = [];
  const folders = merged && foldersOf(merged);
  for (const [path, { was, now }] of byThem) {
    const mine = byUs.get(path);
    const oursNow = mine ? mine.now : was;
    const text = textOf(path);
    const isKeptAside = ({ tree }: Side, entry: GitEntry | null) => entry !== null && !tree.has(text);
    const theirsIs = isKeptAside(theirs, now);
    if (!theirsIs && !isKeptAside(base, was) && !isKeptAside(ours, oursNow)) continue;
    if (sameGit(oursNow, now)) continue;
    if (mine || (theirsIs && merged && isInTheWay(text, merged, folders!))) conflicts.push(text);
    else if (theirsIs) changes.push({ path: Buffer.from(path, 'latin1'), entry: now });
    else if (isKeptAside(ours, oursNow)) changes.push({ path: Buffer.from(path, 'latin1'), entry: null });
  }
  return { changes, conflicts };
}

/** Paths as latin1: git's are bytes. */
const textOf = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');

/** Whether a file is at, above or below this path. It may be a megabyte of folders: no file is as deep. */
function isInTheWay(path: string, files: Tree, folders: Set<string>): boolean {
  if (folders.has(path) || files.has(path)) return true;
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const above = path.slice(0, slash);
    if (files.has(above)) return true;
    // Neither a file nor a folder of files: below it there is none.
    if (!folders.has(above)) return false;
  }
  return false;
}

function foldersOf(files: Tree): Set<string> {
  const folders = new Set<string>();
  for (const path of files.keys())
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

/** What differs between two commits, by path. */
async function changedEntries(dir: string, from: string, to: string): Promise<Changed> {
  const { output } = await runGit(dir, [
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    '--no-abbrev',
    from,
    to,
  ]);
  const parts = output.toString('latin1').split('\0');
  const changed: Changed = new Map();
  const entry = (mode: string, id: string) => (mode === '000000' ? null : { mode, id });
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [oldMode, newMode, oldId, newId] = parts[i]!.slice(1).split(' ');
    changed.set(parts[i + 1]!, { was: entry(oldMode!, oldId!), now: entry(newMode!, newId!) });
  }
  return changed;
}
