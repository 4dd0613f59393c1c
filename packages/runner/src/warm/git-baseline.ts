import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RESERVED } from '../capture/rules.ts';
import type { Host } from '../sandbox/host.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import type { Over, Tree } from '../workspaces/tree.ts';
import type { Trees } from '../workspaces/trees.ts';
import { gitLayer } from './git-layer.ts';
import { MAKE, RENEW } from './git-script.ts';
import { remount } from './remount.ts';
import { run } from './run.ts';

const TIMEOUT_MS = 10_000;

/**
 * What is known of a tree: how to name the paths of its source, once anything else may lie in it; whether
 * it has had its baseline.
 */
interface Known {
  paths?: () => Iterable<string>;
  isDone?: boolean;
}

/** A tree that is replaced takes what was known of it along: the next one gets a baseline of its own. */
const known = new WeakMap<Tree, Known>();

/**
 * Before anything was captured a tree holds its source and nothing else. From then on ignored files of the
 * source cannot be told from other ignored ones but by name; those of kept files are known without keeping
 * them once more.
 */
export function noteSource({ tree }: Workspace, basePaths: string[]): void {
  if (known.get(tree)?.isDone) return; // nobody will ask again
  known.set(tree, { paths: () => tree.over?.source.listing.paths ?? basePaths });
}

/**
 * Makes the repository that coding agents expect: a `.git` whose one commit is the source, so that `git
 * status` and `git diff` tell what changed since. Once a tree: what an agent makes of it is its own, and
 * one that is there already stays. git runs inside a sandbox only, for what stands in the tree may tell it
 * to run programs. Never rejects, and takes 10 s at most: the turn goes on without, and stderr says why. A
 * signal that fires ends it at once.
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
  if (before.isDone || cancelled.aborted) return;
  known.set(tree, { isDone: true });
  if (lstatSync(join(tree.folder, '.git'), { throwIfNoEntry: false })) return; // nothing is live there, and a link is not followed
  const signal = AbortSignal.any([cancelled, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const { over } = tree;
    const isMounted = over !== undefined && (await mountLayer(host, trees, over, signal));
    if (isMounted && isUntouched(over)) return;
    const paths = before.paths && Array.from(before.paths(), (path) => `${path}\0`).join('');
    await run(host, {
      script: isMounted ? RENEW : MAKE,
      args: [paths === undefined ? 'all' : 'known'],
      binds: [tree.bind({ readOnly: false })],
      stdin: paths,
      signal,
    });
  } catch (error) {
    if (cancelled.aborted) known.set(tree, before); // the next turn has it made
    else
      process.stderr.write(
        `The workspace ${workspace.id} has no git baseline: ${signal.aborted ? `it took longer than ${TIMEOUT_MS / 1000} seconds` : (error as Error).message}\n`,
      );
    await clear(host, tree);
  }
}

/**
 * The layer of the kept source below a tree becomes its own, beneath what was written. Nothing of the tree
 * is live: its turn has not begun.
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

/** Whether nothing was ever written beside the kept source, but for evidence. */
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
