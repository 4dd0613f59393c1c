import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeSandboxFolder, type Host } from '../sandbox/host.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { DEPENDENCIES, hasDependencies } from '../workspaces/dependency-cache.ts';
import type { Tree } from '../workspaces/tree.ts';
import type { Trees } from '../workspaces/trees.ts';
import { inspect, markerIn } from './installed.ts';
import { remount } from './remount.ts';

/**
 * The marker with which a tree's folder was refused: the folder is checked again once the installer writes
 * another.
 */
const refused = new WeakMap<Tree, string>();
let counter = 0;

/**
 * Moves what was installed in a workspace into the cache of its project, and mounts it below the workspace:
 * the next workspace with this lock file has it at once, and writes to its own layer. Nothing in the
 * workspace may be live. A tree over cached dependencies is left alone: that folder then holds changes to
 * them; so is one that was restored for another runtime than the one that wrote last. Never rejects.
 */
export async function takeOver(
  host: Host,
  trees: Trees,
  workspace: Workspace,
  runtime: string | undefined,
): Promise<void> {
  try {
    await tryToTake(host, trees, workspace.tree, runtime);
  } catch (error) {
    process.stderr.write(`The dependencies of ${workspace.id} were not kept: ${(error as Error).message}\n`);
  }
}

async function tryToTake(host: Host, trees: Trees, tree: Tree, runtime: string | undefined): Promise<void> {
  const { over } = tree;
  if (!over || over.group === undefined || over.dependencies || over.runtime !== runtime) return;
  const marker = markerIn(over.overlay);
  if (!marker || refused.get(tree) === marker.writtenAt) return;
  refused.set(tree, marker.writtenAt);
  if (hasDependencies(over.source)) return;
  const installed = await inspect(host, tree, over.overlay, marker);
  if (
    !installed ||
    trees.dependencies.has({ group: over.group, lock: installed.lock, runtime }) ||
    !trees.dependencies.admits(installed.byteSize)
  )
    return;
  const folder = makeSandboxFolder(host, `dependencies.${++counter}`);
  const [here, there] = [join(over.overlay.upper, DEPENDENCIES), join(folder, DEPENDENCIES)],
    from = over.lowers;
  try {
    await remount(over.overlay, {
      from,
      to: [folder, ...from],
      change: () => renameSync(here, there),
      undo: () => renameSync(there, here),
    });
  } catch (error) {
    // What could not be moved back stays in the new folder: the next use mounts the tree over it.
    if (!existsSync(there)) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }
  over.lowers = [folder, ...from];
  over.dependencies = trees.dependencies.add({ group: over.group, ...installed, runtime, folder });
}
