/**
 * Merges and diffs off the event loop: one thread, started with the first request, that owns git. The
 * thread asks for trees and contents by message and this side reads them, so that it needs neither database
 * nor storage. A thread that dies or hangs is replaced; what it had under way is tried once more, except
 * the request that took too long.
 */
import { asBuffer } from '../buffers.ts';
import { JobQueue, type QueueOptions } from './job-queue.ts';
import type { TreeRef } from './job.ts';
import type { FileOutput, MergeOutput } from './protocol.ts';
import type { Conflict, DiffFile, DiffParts, ReadBlobs, Resolution } from './types.ts';
import { BUNDLE_LIMITS } from '../trees/limits.ts';
import type { SourceLimits } from '../trees/limits.ts';
import type { Changes, Tree } from '../trees/tree.ts';
import type { TreeFault } from './validate.ts';
import { withChanges } from './with-changes.ts';

export type { TreeRef } from './job.ts';

export interface MergeRequest {
  base: TreeRef;
  head: TreeRef;
  draft: TreeRef;
  readBlobs: ReadBlobs;
  resolutions?: Resolution[];
  /** What the result may hold; those of bundles by default. */
  limits?: SourceLimits;
}

interface DiffRequest extends DiffParts {
  from: TreeRef;
  to: TreeRef;
  readBlobs: ReadBlobs;
}

export interface MergeResult {
  status: 'clean' | 'conflicted';
  /** The clean merge; paths in conflict are as in the draft. */
  tree: Tree;
  /** From the head to `tree`; empty when they are equal. */
  changes: Changes;
  /** Contents that the merge made, by SHA-256: to be stored with the result. */
  newBlobs: Map<string, Buffer>;
  /** What is (still) in conflict, sorted by path bytes. */
  conflicts: Conflict[];
  /** Resolutions that are impossible, by their place in the request. With any of these nothing is resolved. */
  faults: { index: number; message: string }[];
  /** Rules of sources that a clean result breaks. */
  invalid: TreeFault[];
}

export interface MergePreview extends MergeResult {
  /** From the head to `tree`. */
  files: DiffFile[];
}

export interface MergeEngine {
  /** Rejects with MergeUnavailable, or with what `load` or `readBlobs` threw. */
  merge(request: MergeRequest): Promise<MergeResult>;
  /** As `merge`, with hunks in the conflicts and the diff to the head. */
  preview(request: MergeRequest): Promise<MergePreview>;
  /** One path, as a person needs it to resolve its conflict; reads no other path if renames are impossible. */
  conflictFile(request: MergeRequest, path: string): Promise<FileOutput>;
  diff(request: DiffRequest): Promise<DiffFile[]>;
  /** Refuses what waits and is under way; ends the thread and git. */
  close(): Promise<void>;
}

export function createMergeEngine(options: QueueOptions): MergeEngine {
  const jobs = new JobQueue(options);
  return {
    merge: (request) => runMerge(jobs, request, 'merge'),
    preview: (request) => runMerge(jobs, request, 'preview'),
    conflictFile: ({ base, head, draft, readBlobs, resolutions = [] }, path) =>
      jobs.run(
        { kind: 'file', base: base.id, head: head.id, draft: draft.id, resolutions, path },
        [base, head, draft],
        readBlobs,
      ) as Promise<FileOutput>,
    diff: ({ from, to, readBlobs, ...parts }) =>
      jobs.run({ kind: 'diff', from: from.id, to: to.id, ...parts }, [from, to], readBlobs) as Promise<
        DiffFile[]
      >,
    close: () => jobs.close(),
  };
}

async function runMerge(
  jobs: JobQueue,
  request: MergeRequest,
  purpose: 'merge' | 'preview',
): Promise<MergePreview> {
  const { base, draft, readBlobs, resolutions = [], limits = BUNDLE_LIMITS } = request;
  const head = { id: request.head.id, load: once(request.head.load) };
  const output = (await jobs.run(
    {
      kind: 'merge',
      base: base.id,
      head: head.id,
      draft: draft.id,
      resolutions,
      limits,
      preview: purpose === 'preview',
    },
    [base, head, draft],
    readBlobs,
  )) as MergeOutput;
  return {
    ...output,
    tree: withChanges(await head.load(), output.changes),
    newBlobs: new Map(output.newBlobs.map(([sha256, bytes]) => [sha256, asBuffer(bytes)])),
  };
}

function once<T>(load: () => Promise<T> | T): () => Promise<T> | T {
  let value: Promise<T> | T | undefined;
  return () => (value ??= load());
}
