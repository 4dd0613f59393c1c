import { comparePaths } from '../trees/paths.ts';
import { findClashes } from './collisions.ts';
import { GitFailure } from './git-process.ts';
import type { Git } from './git.ts';
import { mergeWithGit } from './git-merge.ts';
import type { GitConflict, GitVerdict } from './git-merge.ts';
import { planGit } from './git-plan.ts';
import { mergePath, touchedPaths } from './three-way.ts';
import type { TouchedPath } from './three-way.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Conflict, ConflictKind, Merge, ReadBlobs, Sides } from './types.ts';
import type { Changes, Entry, Tree } from '../trees/tree.ts';

/** Wall time for one question to git. What it has not decided by then, or cannot, is a conflict. */
const GIT_LIMIT_MS = 10_000;

export interface MergeInput extends Sides {
  readBlobs: ReadBlobs;
  git: Git;
  limitMs?: number;
}

/**
 * Three-way merge of trees. Hashes decide path by path; git decides wherever a text changed on both sides,
 * or one side deleted or moved what the other edited, moved or added to. Git's conflict wins; collisions of
 * names, which git does not check, are conflicts too. Rejects with what `readBlobs` throws, and with
 * GitFailure when git cannot run.
 */
export async function mergeTrees(input: MergeInput): Promise<Merge> {
  const { base, head, draft, readBlobs, git, limitMs = GIT_LIMIT_MS } = input;
  const sides = { base, head, draft };
  const touched = touchedPaths(sides);
  const merged = new Map<string, Entry>();
  const contested: TouchedPath[] = [];
  for (const t of touched) {
    const entry = mergePath(t);
    if (entry === 'contested') contested.push(t);
    else if (entry) merged.set(t.path, entry);
  }
  const plan = planGit(sides, touched, contested);
  const verdict = plan
    ? await decide()
    : {
        files: merged,
        conflicts: new Map<string, GitConflict>(),
        standing: new Set<string>(),
        contents: new Map<string, Buffer>(),
      };
  const clashes = findClashes([...verdict.files.keys(), ...verdict.standing]);
  const paths = new Set([...verdict.conflicts.keys(), ...clashes]);
  const conflicts = [...paths]
    .sort(comparePaths)
    .map((path) => describe(path, { sides, verdict, clashes, git }));
  const all = new Set([...touched.map((t) => t.path), ...paths]);
  return {
    status: conflicts.length > 0 ? 'conflicted' : 'clean',
    changes: changesOf(head, all, (path) => (paths.has(path) ? draft.get(path) : verdict.files.get(path))),
    newBlobs: withoutKnown(verdict.contents, base, touched),
    conflicts,
    touched: [...all],
    stages: new Map([...verdict.conflicts].map(([path, c]) => [path, c.stages])),
  };

  async function decide(): Promise<GitVerdict> {
    try {
      return await mergeWithGit({
        git,
        sides,
        touched,
        uncontested: merged,
        plan: plan!,
        readBlobs,
        limitMs,
      });
    } catch (error) {
      if (!(error instanceof GitFailure) || !(error.timedOut || error.aborted)) throw error;
      const undecided = contested.length > 0 ? contested : touched.filter((t) => !t.base);
      const conflicts = new Map(undecided.map((t) => [t.path, { renamed: false, stages: {} }]));
      for (const t of undecided) merged.delete(t.path);
      return { files: merged, conflicts, standing: new Set(), contents: new Map() };
    }
  }
}

/** What turns the head into the tree that has `at(path)` at every one of `paths`. */
export function changesOf(
  head: Tree,
  paths: Iterable<string>,
  at: (path: string) => Entry | undefined,
): Changes {
  const changes: Changes = [];
  for (const path of paths) {
    const entry = at(path);
    if (!sameEntry(entry, head.get(path))) changes.push([path, entry ?? null]);
  }
  return changes.sort(([a], [b]) => comparePaths(a, b));
}

function describe(
  path: string,
  { sides, verdict, clashes, git }: { sides: Sides; verdict: GitVerdict; clashes: Set<string>; git: Git },
): Conflict {
  const at = { base: sides.base.get(path), head: sides.head.get(path), draft: sides.draft.get(path) };
  const sha = (entry: Entry | undefined): string | null => entry?.sha256 ?? null;
  const kind = clashes.has(path) ? 'path' : verdict.conflicts.get(path)?.renamed ? 'rename' : kindOf(at, git);
  return { path, kind, base: sha(at.base), head: sha(at.head), draft: sha(at.draft) };
}

function kindOf(
  { base, head, draft }: { base: Entry | undefined; head: Entry | undefined; draft: Entry | undefined },
  git: Git,
): ConflictKind {
  if (!head || !draft) return 'delete_modify';
  if (head.sha256 === draft.sha256) return 'mode';
  if ([base, head, draft].some((e) => e && git.store.blob(e.sha256)?.binary)) return 'binary';
  return base ? 'content' : 'add_add';
}

/**
 * The contents that none of the three sides has. An entry of head or draft is the base's, or at a touched
 * path.
 */
function withoutKnown(
  contents: Map<string, Buffer>,
  base: Tree,
  touched: TouchedPath[],
): Map<string, Buffer> {
  const fresh = new Map(contents);
  if (fresh.size === 0) return fresh;
  for (const { sha256 } of base.values()) fresh.delete(sha256);
  for (const { head, draft } of touched)
    for (const entry of [head, draft]) if (entry) fresh.delete(entry.sha256);
  return fresh;
}
