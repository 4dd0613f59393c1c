import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Tree } from '../trees/tree.ts';

/** Files whose lines are hashed before others get their turn. */
const BATCH = 5_000;

/** The files of a source that a setup's paths name: files, folders with a `/` at the end, or `.` for all. */
export function namedFiles(tree: Tree, paths: readonly string[]): Tree {
  if (paths.includes('.')) return tree;
  const names = new Set(paths);
  return new Map([...tree].filter(([path]) => names.has(path) || liesIn(names, path)));
}

/** Whether one of the folders above a path is named. */
function liesIn(names: ReadonlySet<string>, path: string): boolean {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
    if (names.has(path.slice(0, end + 1))) return true;
  return false;
}

/**
 * What a setup is a function of, as 64 hex digits: the SHA-256 of lines of JSON, each with a `\n` at its end. The
 * first is `[command, runtime]`, the runtime null where sandboxes have the host's own system. Each other one is
 * `[path, mode, sha256]` of a file, its mode `0755` or `0644`, in the order of the paths' bytes.
 */
export async function keyOf(command: string, runtime: string | null, files: Tree): Promise<string> {
  const hash = createHash('sha256').update(`${JSON.stringify([command, runtime])}\n`);
  let count = 0;
  for (const [path, { sha256, executable }] of files) {
    hash.update(`${JSON.stringify([path, executable ? '0755' : '0644', sha256])}\n`);
    if (++count % BATCH === 0) await setImmediate();
  }
  return hash.digest('hex');
}
