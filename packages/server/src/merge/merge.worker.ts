/**
 * The thread that merges and diffs: it owns git, its repository and the trees that it has parsed; contents
 * come from the main thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ChangedTree, wholeTree } from './changed-tree.ts';
import { conflictFile } from './conflict-file.ts';
import { diffTrees } from './diff-trees.ts';
import { createGit } from './git.ts';
import { withHunks } from './hunks.ts';
import { mergeTrees } from './merge-trees.ts';
import { unpackTree } from './packed-tree.ts';
import type { PackedTree, TreeDelta } from './packed-tree.ts';
import type { Answer, FileOutput, FromWorker, MergeOutput, Question, ToWorker, Work } from './protocol.ts';
import { resolveMerge } from './resolve.ts';
import { storedFirst } from './stored-first.ts';
import type { DiffFile, Merge, ReadBlobs, Resolution, Sides } from './types.ts';
import type { Tree } from '../trees/tree.ts';
import { validateResult } from './validate.ts';
import { withChanges } from './with-changes.ts';

/** About 250 bytes each. */
const MAX_KEPT_ENTRIES = 200_000;
/** Contents of projects must not stay in the repository long after their last use. */
const IDLE_MS = 60_000;

const port = parentPort!;
const send = (message: FromWorker, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
const git = createGit({
  dir: (workerData as { dir: string }).dir,
  onSpawn: (pid, alive) => {
    if (pid !== undefined) send({ type: 'process', pid, alive });
  },
});
const questions = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
let lastQuestion = 0;
let active = 0;
let idle: NodeJS.Timeout | undefined;

const trees = new Map<string, Tree>();
let keptEntries = 0;

function ask(job: number, what: Question): Promise<Answer> {
  const question = ++lastQuestion;
  send({ type: 'ask', job, question, what });
  return new Promise((resolve, reject) => questions.set(question, { resolve, reject }));
}

/** `near` is likely to be nearly the same tree: then the answer has only the differences. */
async function treeOf(job: number, id: string, near: { id: string; tree: Tree } | null): Promise<Tree> {
  const tree =
    trees.get(id) ??
    treeFrom(
      (await ask(job, { about: 'tree', id, near: near?.id ?? null })) as PackedTree | TreeDelta,
      near?.tree,
    );
  if (trees.delete(id)) keptEntries -= tree.size;
  trees.set(id, tree);
  keptEntries += tree.size;
  for (const [oldest, { size }] of trees) {
    if (keptEntries <= MAX_KEPT_ENTRIES) break;
    trees.delete(oldest);
    keptEntries -= size;
  }
  return tree;
}

const treeFrom = (answer: PackedTree | TreeDelta, near: Tree | undefined): Tree =>
  'changes' in answer ? new ChangedTree(near!, answer.changes) : unpackTree(answer);

/**
 * The base, whole: the other two come as differences to it. A base that is new here was mostly made from a
 * head that is known.
 */
async function baseOf(
  job: number,
  { base: id, head, draft }: { base: string; head: string; draft: string },
): Promise<Tree> {
  const relative = [head, draft].find((known) => trees.has(known));
  const base = wholeTree(
    await treeOf(job, id, relative === undefined ? null : { id: relative, tree: trees.get(relative)! }),
  );
  if (trees.has(id)) trees.set(id, base);
  return base;
}

const reader =
  (job: number): ReadBlobs =>
  async (shas) => {
    const { sizes, bytes } = (await ask(job, { about: 'blobs', shas })) as {
      sizes: number[];
      bytes: Uint8Array<ArrayBuffer>;
    };
    const blobs = new Map<string, Buffer>();
    let at = 0;
    shas.forEach((sha, i) => {
      blobs.set(sha, Buffer.from(bytes.buffer, at, sizes[i]));
      at += sizes[i]!;
    });
    return blobs;
  };

async function sidesOf(job: number, work: { base: string; head: string; draft: string }): Promise<Sides> {
  const base = await baseOf(job, work);
  const near = { id: work.base, tree: base };
  const [head, draft] = await Promise.all([treeOf(job, work.head, near), treeOf(job, work.draft, near)]);
  return { base, head, draft };
}

const resolved = (merged: Merge, sides: Sides, resolutions: Resolution[]) =>
  resolutions.length > 0
    ? resolveMerge(merged, sides, resolutions)
    : { changes: merged.changes, remaining: merged.conflicts, faults: [] };

async function merge(job: number, work: Extract<Work, { kind: 'merge' }>): Promise<MergeOutput> {
  const readBlobs = reader(job);
  const sides = await sidesOf(job, work);
  const { head } = sides;
  const merged = await mergeTrees({ ...sides, readBlobs, git });
  const { changes, remaining, faults } = resolved(merged, sides, work.resolutions);
  const status = remaining.length > 0 ? 'conflicted' : 'clean';
  const output: MergeOutput = {
    status,
    changes,
    newBlobs: [...merged.newBlobs],
    conflicts: remaining,
    faults,
    invalid: status === 'clean' && faults.length === 0 ? validateResult(head, changes, work.limits) : [],
    files: [],
  };
  if (!work.preview || faults.length > 0) return output;
  const to = withChanges(head, changes);
  const conflicts = await withHunks({ ...merged, conflicts: remaining }, { git, readBlobs });
  return {
    ...output,
    conflicts,
    files: await diffTrees({ from: head, to, readBlobs: withNew(readBlobs, merged.newBlobs), git }),
  };
}

/** Whether resolutions fit depends on all conflicts, so none may be left out. */
async function file(job: number, work: Extract<Work, { kind: 'file' }>): Promise<FileOutput> {
  const { path, resolutions } = work;
  const readBlobs = reader(job);
  const sides = await sidesOf(job, work);
  const only = resolutions.length === 0 ? path : undefined;
  const merged = await mergeTrees({ ...sides, readBlobs, git, only });
  const { remaining, faults } = resolved(merged, sides, resolutions);
  const conflict = remaining.find((one) => one.path === path);
  if (faults.length > 0 || !conflict) return { faults, file: null };
  const stored = storedFirst(git.store, readBlobs);
  return { faults, file: await conflictFile(conflict, { merge: merged, sides, readBlobs: stored }) };
}

/** Reads what the merge made from memory, all else from the main thread. */
const withNew =
  (readBlobs: ReadBlobs, made: Map<string, Buffer>): ReadBlobs =>
  async (shas) => {
    const stored = shas.filter((sha) => !made.has(sha));
    const found = stored.length > 0 ? await readBlobs(stored) : new Map<string, Buffer>();
    for (const sha of shas) if (made.has(sha)) found.set(sha, made.get(sha)!);
    return found;
  };

async function diff(job: number, work: Extract<Work, { kind: 'diff' }>): Promise<DiffFile[]> {
  const { from, to, paths, patches } = work;
  const a = await treeOf(job, from, null);
  const b = await treeOf(job, to, { id: from, tree: a });
  return diffTrees({ from: a, to: b, readBlobs: reader(job), git, paths, patches });
}

function answer(job: number, work: Work): Promise<MergeOutput | DiffFile[] | FileOutput> {
  if (work.kind === 'merge') return merge(job, work);
  return work.kind === 'file' ? file(job, work) : diff(job, work);
}

async function run(job: number, work: Work): Promise<void> {
  clearTimeout(idle);
  active++;
  try {
    send({ type: 'done', job, output: await answer(job, work) });
  } catch (error) {
    send({ type: 'failed', job, message: error instanceof Error ? error.message : String(error) });
  } finally {
    if (--active === 0) {
      git.tidy();
      idle = setTimeout(git.clear, IDLE_MS);
    }
  }
}

port.on('message', (message: ToWorker) => {
  if (message.type === 'work') void run(message.job, message.work);
  else if (message.type === 'answer') {
    const waiting = questions.get(message.question);
    questions.delete(message.question);
    if (message.answer === null) waiting?.reject(new Error('the main thread could not answer'));
    else waiting?.resolve(message.answer);
  } else {
    clearTimeout(idle);
    git.close();
    send({ type: 'closed' });
    port.close();
  }
});
