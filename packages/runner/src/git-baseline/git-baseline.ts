import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LAYER, layerBind } from '../layers/layer-view.ts';
import { RESERVED } from '../capture/rules.ts';
import type { Host } from '../sandbox/host.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import type { Over, Tree } from '../workspaces/tree.ts';
import type { Trees } from '../workspaces/trees.ts';
import { gitLayer } from './git-layer.ts';
import { HIDE, MAKE, RENEW } from './git-script.ts';
import { remount } from './remount.ts';
import { run } from './run.ts';

const TIMEOUT_MS = 10_000;

/**
 * What is known about a tree. `paths`: those of its source, but for the kept source below it, once other files
 * may lie in it. `isDone`: it had its baseline.
 */
interface Known {
  paths?: string[];
  isDone?: boolean;
}

/** Keyed by tree: a replaced tree loses its entry, and the next one gets a new baseline. */
const known = new WeakMap<Tree, Known>();

/**
 * Notes the source's paths at a capture. Before the first capture a tree holds nothing but its source.
 * Afterwards only the paths tell ignored files of the source from other ignored files; the listing of kept
 * files has theirs already.
 */
export function noteSource({ tree }: Workspace, basePaths: string[]): void {
  // Nobody asks again after the baseline.
  if (known.get(tree)?.isDone) return;
  const kept = tree.over?.source.listing.paths;
  known.set(tree, { paths: kept ? basePaths.filter((path) => !kept.has(path)) : basePaths });
}

/**
 * Makes the repository that coding agents expect: a `.git` whose one commit is the source, so that `git
 * status` and `git diff` show what changed since; what the tree's layer has is excluded. It is made once per tree: the agent may change it freely,
 * and an existing one stays, such as the history of a repository. git runs only inside a sandbox, because files in the tree may make it run
 * programs. Never rejects, and takes 10 s at most: the turn continues without it, and stderr says why. An
 * aborted signal ends it at once.
 */
export async function gitBaseline(
  host: Host,
  trees: Trees,
  workspace: Workspace,
  cancelled: AbortSignal,
): Promise<void> {
  const { tree } = workspace,
    before = known.get(tree) ?? {};
  if (!workspace.evidence.includes('.git')) workspace.evidence = [...workspace.evidence, '.git'];
  if (before.isDone || (tree.hasHistory && !tree.layer) || cancelled.aborted) return;
  known.set(tree, { isDone: true });
  // Safe from the host: nothing is live there, and lstat follows no link.
  if (lstatSync(join(tree.folder, '.git'), { throwIfNoEntry: false }) && !tree.hasHistory) return;
  const signal = AbortSignal.any([cancelled, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const { over, layer } = tree;
    const isMounted = !tree.hasHistory && over !== undefined && (await mountLayer(host, trees, over, signal));
    const isMade = tree.hasHistory || (isMounted && isUntouched(over));
    if (isMade && !layer) return;
    const paths = isMade ? undefined : pathsOf(tree, before);
    const script = isMounted ? RENEW : MAKE;
    await run(host, {
      script: isMade ? HIDE : script,
      args: [paths === undefined ? 'all' : 'known', layer ? LAYER : ''],
      binds: [tree.bind({ readOnly: false }), ...(layer ? [layerBind(layer)] : [])],
      stdin: paths,
      signal,
    });
  } catch (error) {
    // The next turn tries again.
    if (cancelled.aborted) known.set(tree, before);
    else
      process.stderr.write(
        `The workspace ${workspace.id} has no git baseline: ${
          signal.aborted ? `it took longer than ${TIMEOUT_MS / 1000} seconds` : (error as Error).message
        }\n`,
      );
    if (!tree.hasHistory) await clear(host, tree);
  }
}

/** The source's paths, each with a NUL behind it; undefined where nothing else lies in the tree. */
function pathsOf({ over, layer, sourcePaths = [] }: Tree, { paths }: Known): string | undefined {
  if (!paths && !layer) return undefined;
  const all = new Set([...(over?.source.listing.paths ?? []), ...(paths ?? []), ...sourcePaths]);
  return Array.from(all, (path) => `${path}\0`).join('');
}

/**
 * Mounts the git layer of the kept source into a tree, below what was written. Nothing in the tree is live:
 * its turn has not begun.
 */
async function mountLayer(host: Host, trees: Trees, over: Over, signal: AbortSignal): Promise<boolean> {
  const layer = await gitLayer(host, trees, over.source, signal);
  signal.throwIfAborted();
  if (layer === undefined) return false;
  const to = [layer, ...over.lowers];
  await remount(over.overlay, { from: over.lowers, to });
  over.lowers = to;
  return true;
}

/** Whether nothing but evidence was ever written over the kept source. */
function isUntouched({ overlay: { upper } }: Over): boolean {
  return readdirSync(upper).every((name) => RESERVED.has(name.toLowerCase()));
}

/** Half a repository would mislead more than none. */
async function clear(host: Host, tree: Tree): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  await run(host, {
    script: 'rm -rf -- .git',
    args: [],
    binds: [tree.bind({ readOnly: false })],
    stdin: undefined,
    signal,
  }).catch((error: Error) => process.stderr.write(`Half of a git baseline stays: ${error.message}\n`));
}
