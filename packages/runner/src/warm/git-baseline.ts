import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS } from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import type { Workspace } from '../workspaces.ts';
import type { Tree } from '../workspaces/trees.ts';
import { CONFIG, EXCLUDED, EXIT, SCRIPT } from './git-script.ts';

const TIMEOUT_MS = 10_000;

/** What is known of a tree: how to name the paths of its source, once anything else may lie in it; whether it has had its baseline. */
interface Known { paths?: () => Iterable<string>; isDone?: boolean }

/** A tree that is replaced takes what was known of it along: the next one gets a baseline of its own. */
const known = new WeakMap<Tree, Known>();

/**
 * Before anything was captured a tree holds its source and nothing else. From then on ignored files of the source cannot be told from other ignored
 * ones but by name; those of kept files are known without keeping them once more.
 */
export function noteSource({ tree }: Workspace, basePaths: string[]): void {
  if (known.get(tree)?.isDone) return; // nobody will ask again
  known.set(tree, { paths: () => tree.over?.source.listing.paths ?? basePaths });
}

/**
 * Makes the repository that coding agents expect: a `.git` whose one commit is the source, so that `git status` and `git diff` tell what changed since. Once a
 * tree: what an agent makes of it is its own, and one that is there already stays. git runs inside a sandbox only, for what stands in the tree may
 * tell it to run programs. Never rejects, and takes 10 s at most: the turn goes on without, and stderr says why. A signal that fires ends it at once.
 */
export async function gitBaseline(host: Host, workspace: Workspace, signal: AbortSignal): Promise<void> {
  const before = known.get(workspace.tree) ?? {};
  if (!workspace.evidence.includes('.git')) workspace.evidence = [...workspace.evidence, '.git'];
  if (before.isDone || signal.aborted) return;
  known.set(workspace.tree, { isDone: true });
  try {
    const fault = await make(host, workspace.tree, before.paths, signal);
    if (fault === undefined) return;
    if (signal.aborted) known.set(workspace.tree, before);
    else process.stderr.write(`The workspace ${workspace.id} has no git baseline: ${fault}\n`);
    await clear(host, workspace.tree);
  } catch (error) { process.stderr.write(`The workspace ${workspace.id} has no git baseline: ${(error as Error).message}\n`); }
}

/** Why there is none, undefined where there is one. */
async function make(host: Host, tree: Tree, paths: (() => Iterable<string>) | undefined, signal: AbortSignal): Promise<string | undefined> {
  const sandbox = startSandbox(host, { command: ['/bin/sh', '-c', SCRIPT, 'sh', paths ? 'known' : 'all', EXCLUDED, CONFIG], binds: [tree.bind(false)], limits: DEFAULT_LIMITS });
  const stop = (): void => void sandbox.kill().catch(() => { /* collect sees the same */ });
  signal.addEventListener('abort', stop);
  sandbox.stdin.end(paths && Array.from(paths(), (path) => `${path}\0`).join(''));
  const begun = Date.now();
  const { code, stderr } = await collect(sandbox, { maxBytes: 64 * 1024, timeoutMs: TIMEOUT_MS }).finally(() => signal.removeEventListener('abort', stop));
  if (code === 0 || code === EXIT.isThere) return undefined;
  if (code === EXIT.noGit) return 'git is not installed here';
  return Date.now() - begun >= TIMEOUT_MS ? `it took longer than ${TIMEOUT_MS / 1000} seconds` : `git ended with ${code}: ${stderr.trim().slice(0, 300)}`;
}

/** Half a repository would mislead more than none. */
async function clear(host: Host, tree: Tree): Promise<void> {
  const sandbox = startSandbox(host, { command: ['/bin/rm', '-rf', '--', '.git'], binds: [tree.bind(false)], limits: DEFAULT_LIMITS });
  sandbox.stdin.end();
  await collect(sandbox, { maxBytes: 64 * 1024, timeoutMs: TIMEOUT_MS });
}
