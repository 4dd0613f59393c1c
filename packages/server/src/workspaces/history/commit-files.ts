/** What a commit's tree has, as the workspaces upon it need it. */
import { listTree } from '../../git/list-tree.ts';
import type { TreeEntry } from '../../git/list-tree.ts';
import { runGit } from '../../git/run-git.ts';
import { innerLinks, MAX_TARGET_BYTES, targetOf } from './inner-links.ts';
import type { Links } from './inner-links.ts';

const MAX_ENTRIES = 1_000_000;
const MAX_LINKS_BYTES = 64 * 1024 * 1024;
/** Links of commits that are remembered: few commits have more than some hundred. */
const MAX_REMEMBERED = 100_000;

const remembered = new Map<string, Links>();
let rememberedLinks = 0;

/** All entries of a commit, in the order of their paths' bytes. Throws GitError. */
export async function commitEntries(dir: string, commitSha: string): Promise<TreeEntry[]> {
  const { entries, truncated } = await listTree(dir, commitSha, MAX_ENTRIES);
  if (truncated) throw new Error(`the commit ${commitSha} has too many entries`);
  return entries;
}

/** The links that workspaces upon a commit have. Throws GitError. */
export async function linksOfCommit(dir: string, commitSha: string): Promise<Links> {
  return remembered.get(commitSha) ?? linksAmong(dir, commitSha, await commitEntries(dir, commitSha));
}

export async function linksAmong(dir: string, commitSha: string, entries: TreeEntry[]): Promise<Links> {
  const known = remembered.get(commitSha);
  if (known) return known;
  const links = entries.filter(({ mode }) => mode === '120000');
  // git takes links of any length.
  const short = links.filter(({ byteSize }) => byteSize <= MAX_TARGET_BYTES);
  const targets = new Map<string, string | null>(links.map(({ path }) => [path.toString('utf8'), null]));
  const read = short.length === 0 ? [] : await readTargets(dir, short);
  for (const [index, { path }] of short.entries()) targets.set(path.toString('utf8'), read[index]!);
  return remember(commitSha, innerLinks(targets));
}

function remember(commitSha: string, links: Links): Links {
  remembered.set(commitSha, links);
  rememberedLinks += links.size + 1;
  for (const [oldest, { size }] of remembered) {
    if (rememberedLinks <= MAX_REMEMBERED || oldest === commitSha) break;
    remembered.delete(oldest);
    rememberedLinks -= size + 1;
  }
  return links;
}

async function readTargets(dir: string, links: TreeEntry[]): Promise<(string | null)[]> {
  const { output } = await runGit(dir, ['cat-file', '--batch'], {
    input: links.map(({ object }) => `${object}\n`).join(''),
    maxOutput: MAX_LINKS_BYTES,
  });
  let at = 0;
  return links.map(({ byteSize }) => {
    const from = output.indexOf(10, at) + 1;
    at = from + byteSize + 1;
    return targetOf(output.subarray(from, from + byteSize));
  });
}
