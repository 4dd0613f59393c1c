import { createHash } from 'node:crypto';
import { GitFailure } from './git-process.ts';
import type { Git } from './git.ts';
import type { GitPlan } from './git-plan.ts';
import { EMPTY_BLOB, readTree, writeCommit, writeTree } from './git-trees.ts';
import type { GitFile } from './git-trees.ts';
import { parseMergeAnswer, withoutMadeUpNames } from './merge-answer.ts';
import type { MergeAnswer } from './merge-answer.ts';
import { sideRenames } from './side-renames.ts';
import type { TouchedPath } from './three-way.ts';
import type { MarkerLabels, ReadBlobs, Sides } from './types.ts';
import type { Entry } from '../trees/tree.ts';

/** Git's opinion of a merge. */
export interface GitVerdict {
  /** What git's result has at the touched paths that are not in conflict. */
  files: Map<string, Entry>;
  /** Paths in conflict, with how git came to it. */
  conflicts: Map<string, GitConflict>;
  /** Conflicting paths that are in git's result all the same, where they may collide with others. */
  standing: Set<string>;
  /** Contents that git made, by SHA-256. */
  contents: Map<string, Buffer>;
  /** What git made at conflicting paths, by id: texts with markers, which end in these commits. */
  texts: Map<string, string>;
  labels: MarkerLabels;
}

export interface GitConflict {
  renamed: boolean;
  /**
   * SHA-256 of the three contents that git tried to merge here; empty for the other path of a renamed file.
   */
  stages: { base?: string | undefined; head?: string | undefined; draft?: string | undefined };
}

/** Beyond this a line merge can take minutes: such a file is shown to git as binary, which is a conflict. */
const MAX_LINES = 200_000;
/** Path of a placeholder: no path of a source has a control character. */
const PLACEHOLDER = '\u0001';
const EMPTY_SHA256 = createHash('sha256').digest('hex');

interface Work {
  git: Git;
  sides: Sides;
  touched: TouchedPath[];
  /** What hashes decide: where git is shown the contested paths alone, this is the rest of its verdict. */
  uncontested: ReadonlyMap<string, Entry>;
  plan: GitPlan;
  readBlobs: ReadBlobs;
  limitMs: number;
}

/** Throws GitFailure when git dies twice or takes too long. */
export async function mergeWithGit(work: Work): Promise<GitVerdict> {
  try {
    return await ask(work);
  } catch (error) {
    if (!(error instanceof GitFailure) || error.timedOut) throw error;
    // Git asked for a content that we did not think it needs (another version may), or was killed: once
    // more, with everything.
    const contents = new Set(
      work.touched.flatMap((t) => [t.base, t.head, t.draft]).flatMap((e) => (e ? [e.sha256] : [])),
    );
    return ask({ ...work, plan: { ...work.plan, contents } });
  }
}

async function ask(work: Work): Promise<GitVerdict> {
  const { git, sides, touched, uncontested, plan, limitMs } = work;
  await provide(work);
  const names = new Map<string, Entry>();
  const fileOf = (entry: Entry): GitFile => {
    const oid = oidOf(git, entry.sha256, plan.contents);
    names.set(oid, entry);
    return { oid, executable: entry.executable };
  };
  const written = new Map<string, Buffer>();
  const commit = (side: 'base' | 'head' | 'draft', parent?: string): string =>
    writeCommit(git.store, writeTree(git.store, filesOf(work, side, fileOf), written), side, parent);
  const base = commit('base');
  const [head, draft] = [commit('head', base), commit('draft', base)];
  const withoutSuffix = withoutMadeUpNames([head, draft]);
  const made = (name: string): string => plan.alone?.[Number(name)]?.path ?? withoutSuffix(name);
  const answer = parseMergeAnswer(await git.mergeTree(head, draft, limitMs), made);

  const conflicts = answer.clean
    ? new Map<string, GitConflict>()
    : await conflictsOf(answer, work, names, fileOf);
  const verdict: GitVerdict = {
    files: new Map(plan.alone ? uncontested : []),
    conflicts,
    standing: new Set(),
    contents: new Map(),
    texts: new Map(),
    labels: { head, draft },
  };
  const shown = new Set(touched.map((t) => t.path));
  for (const [name, file] of readTree(git.store, answer.tree, written)) {
    const path = made(name);
    if (path.endsWith(PLACEHOLDER) || (sides.base.has(path) && !shown.has(path))) continue;
    if (conflicts.has(path)) {
      verdict.standing.add(path);
      if (!names.has(file.oid)) verdict.texts.set(path, file.oid);
    } else verdict.files.set(path, entryOf(git, file, names.get(file.oid), verdict.contents));
  }
  return verdict;
}

/** Puts the contents that git may read into the repository. */
async function provide({ git, plan, readBlobs }: Work): Promise<void> {
  const missing = [...plan.contents].filter((sha256) => !git.store.blob(sha256));
  if (missing.length === 0) return;
  const blobs = await readBlobs(missing);
  for (const sha256 of missing) git.store.writeBlob(sha256, blobs.get(sha256)!);
}

/**
 * One id for one content within a merge. A content that git never reads gets an id without an object: its
 * hash, cut to git's length.
 */
function oidOf(git: Git, sha256: string, contents: Set<string>): string {
  if (sha256 === EMPTY_SHA256) return EMPTY_BLOB; // git takes no empty file for a rename, and knows it by its id
  const stored = contents.has(sha256) ? git.store.blob(sha256) : undefined;
  if (stored && stored.lines > MAX_LINES) return git.store.write('blob', Buffer.from(`\0${sha256}`));
  return stored?.oid ?? sha256.slice(0, EMPTY_BLOB.length);
}

function* filesOf(
  { sides, touched, plan }: Work,
  side: 'base' | 'head' | 'draft',
  fileOf: (entry: Entry) => GitFile,
): Generator<[string, GitFile]> {
  if (plan.whole) {
    for (const [path, entry] of sides[side]) yield [path, fileOf(entry)];
    return;
  }
  if (plan.alone) {
    for (const [i, t] of plan.alone.entries()) if (t[side]) yield [String(i), fileOf(t[side])];
    return;
  }
  for (const t of touched) if (t[side]) yield [t.path, fileOf(t[side])];
  for (const folder of plan.kept)
    yield [folder === '' ? PLACEHOLDER : `${folder}/${PLACEHOLDER}`, { oid: EMPTY_BLOB, executable: false }];
}

function entryOf(git: Git, file: GitFile, known: Entry | undefined, contents: Map<string, Buffer>): Entry {
  if (known) return { ...known, executable: file.executable };
  const content = git.store.read(file.oid);
  const sha256 = createHash('sha256').update(content).digest('hex');
  contents.set(sha256, content);
  return { sha256, byteSize: content.length, executable: file.executable };
}

/**
 * The paths of git's conflicts: those that it names, and every path that the file has in head or draft. Git
 * names only the new path of a file that one side moved and the other edited; a resolution that takes the
 * draft there would lose the edit.
 */
async function conflictsOf(
  answer: MergeAnswer,
  { git, sides, touched, limitMs }: Work,
  names: Map<string, Entry>,
  fileOf: (entry: Entry) => GitFile,
): Promise<Map<string, GitConflict>> {
  const found = new Map<string, GitConflict>();
  const name = (path: string): GitConflict =>
    found.get(path) ?? found.set(path, { renamed: false, stages: {} }).get(path)!;
  const sha = (file: GitFile | undefined): string | undefined =>
    file ? names.get(file.oid)?.sha256 : undefined;
  for (const [path, s] of answer.stages)
    name(path).stages = { base: sha(s[1]), head: sha(s[2]), draft: sha(s[3]) };

  const inSides = (path: string): boolean => sides.head.has(path) || sides.draft.has(path);
  for (const { paths, type } of answer.messages) {
    if (!type.startsWith('CONFLICT')) continue;
    if (type.includes('rename'))
      for (const path of paths) if (found.has(path)) found.get(path)!.renamed = true;
    // A file that both sides have alike at its new place comes without stages even when its old contents
    // clash.
    if (type.includes('rename') && type.includes('collision'))
      for (const path of paths) if (inSides(path)) name(path).renamed = true;
    // Conflicts over a folder's new place come without stages or with the new place only.
    if (type.includes('directory') && type.includes('rename'))
      for (const path of paths.flatMap((p) => (inSides(p) ? [p] : addedBelow(p, touched))))
        name(path).renamed = true;
  }
  await nameOldPaths();
  if (found.size === 0) await nameAnything();
  return found;

  /**
   * Of several files of one content, git names the one that it took for the moved one where both sides
   * moved it.
   */
  function isNamedFor(old: string): boolean {
    return [...answer.stages].some(
      ([path, s]) => s[1] && !s[2] && !s[3] && sides.base.get(path)?.sha256 === sides.base.get(old)!.sha256,
    );
  }

  /**
   * Git calls a folder that was split a conflict also where nothing was added to it, and names no file:
   * then it is about what is there, or went from there.
   */
  async function nameAnything(): Promise<void> {
    const folders = answer.messages
      .filter(({ type }) => type.startsWith('CONFLICT'))
      .flatMap(({ paths }) => paths);
    const isBelow = (path: string): boolean => folders.some((folder) => path.startsWith(`${folder}/`));
    const moved = new Set<string>();
    for (const side of ['head', 'draft'] as const)
      for (const [path, old] of await sideRenames(git, { touched, side, fileOf, limitMs }))
        if (isBelow(old)) moved.add(path);
    const standing = touched.filter((t) => t.head || t.draft);
    const about =
      [standing.filter((t) => isBelow(t.path)), standing.filter((t) => moved.has(t.path)), standing].find(
        (some) => some.length > 0,
      ) ?? [];
    for (const t of about) name(t.path).renamed = true;
  }

  /** The file that git merged at its new place, where its base contents are those of just one that went. */
  function mergedFrom(path: string, side: 'head' | 'draft'): string | undefined {
    const { base } = found.get(path)!.stages;
    const gone = touched.filter((t) => base !== undefined && t.base?.sha256 === base && !t[side]);
    return gone.length === 1 ? gone[0]!.path : undefined;
  }

  async function nameOldPaths(): Promise<void> {
    for (const [side, other] of [
      ['head', 'draft'],
      ['draft', 'head'],
    ] as const) {
      const moved = [...found.keys()].filter((path) => sides[side].has(path) && !sides.base.has(path));
      if (moved.length === 0) continue;
      const renames = await sideRenames(git, { touched, side, fileOf, limitMs });
      for (const path of moved) {
        const old = mergedFrom(path, side) ?? renames.get(path);
        if (old === undefined || !sides[other].has(old) || (!found.has(old) && isNamedFor(old))) continue;
        name(path).renamed = true;
        name(old).renamed = true;
      }
    }
  }
}

/** What either side added below a folder that git could not place. */
const addedBelow = (folder: string, touched: TouchedPath[]): string[] =>
  touched.filter((t) => !t.base && t.path.startsWith(`${folder}/`)).map((t) => t.path);
