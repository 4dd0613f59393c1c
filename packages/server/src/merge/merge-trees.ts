import { comparePaths } from '../trees/paths.ts';
import { findClashes } from './collisions.ts';
import { GitFailure } from './git-process.ts';
import type { Git } from './git.ts';
import { mergeWithGit } from './git-merge.ts';
import type { GitVerdict } from './git-merge.ts';
import { planAlone, planGit } from './git-plan.ts';
import type { GitPlan } from './git-plan.ts';
import { mergePath, touchedPaths } from './three-way.ts';
import type { TouchedPath } from './three-way.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Conflict, ConflictKind, FreshMerge, ReadBlobs, Sides } from './types.ts';
import type { Changes, Entry, Tree } from '../trees/tree.ts';

/** Wall time for one question to git. What it has not decided by then, or cannot, is a conflict. */
const GIT_LIMIT_MS = 10_000;

export interface MergeInput extends Sides {
  readBlobs: ReadBlobs;
  git: Git;
  limitMs?: number;
  /** The only path whose conflict is needed: the merge may skip others and leave their contents unread. */
  only?: string | undefined;
}

/**
 * Three-way merge of trees. Hashes decide path by path; git decides wherever a text changed on both sides,
 * or one side deleted or moved what the other edited, moved or added to. Git's conflict wins; collisions of
 * names, which git does not check, are conflicts too. Rejects with what `readBlobs` throws, and with
 * GitFailure when git cannot run.
 */
export async function mergeTrees(input: MergeInput): Promise<FreshMerge> {
  const { base, head, draft, readBlobs, git, limitMs = GIT_LIMIT_MS, only } = input;
  const sides = { base, head, draft };
  const touched = touchedPaths(sides);
  const merged = new Map<string, Entry>();
  const contested: TouchedPath[] = [];
  for (const t of touched) {
    const entry = mergePath(t);
    if (entry === 'contested') contested.push(t);
    else if (entry) merged.set(t.path, entry);
  }
  const whole = planGit(sides, touched, contested);
  const plan = whole?.alone && only !== undefined ? planAlone(contested, only) : whole;
  const verdict = plan ? await decide(plan) : undecided(merged, []);
  // Paths that git does not see still count: a contested path has a file on at least one side.
  if (plan !== whole) for (const { path } of contested) if (path !== only) verdict.standing.add(path);
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
    madeAt(path) {
      const oid = verdict.texts.get(path);
      const text = oid ? git.store.read(oid) : verdict.contents.get(verdict.files.get(path)?.sha256 ?? '');
      return text && { text, labels: verdict.labels };
    },
  };

  async function decide(plan: GitPlan): Promise<GitVerdict> {
    try {
      return await mergeWithGit({
        git,
        sides,
        touched,
        uncontested: merged,
        plan,
        readBlobs,
        limitMs,
      });
    } catch (error) {
      if (!(error instanceof GitFailure) || !(error.timedOut || error.aborted)) throw error;
      const open = contested.length > 0 ? contested : touched.filter((t) => !t.base);
      for (const t of open) merged.delete(t.path);
      return undecided(merged, open);
    }
  }
}

/** Hashes alone decide these files, without git: what remains undecided is in conflict. */
const undecided = (files: Map<string, Entry>, open: TouchedPath[]): GitVerdict => ({
  files,
  conflicts: new Map(open.map((t) => [t.path, { renamed: false, stages: {} }])),
  standing: new Set(),
  contents: new Map(),
  texts: new Map(),
  labels: { head: '', draft: '' },
});

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
