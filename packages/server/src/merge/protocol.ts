import type { Conflict, ConflictFile, DiffFile, DiffParts, Resolution } from './types.ts';
import type { SourceLimits } from '../trees/limits.ts';
import type { Changes } from '../trees/tree.ts';
import type { PackedTree, TreeDelta } from './packed-tree.ts';
import type { TreeFault } from './validate.ts';

/**
 * Work for the thread. Trees go by the ids of their sources: the thread keeps what it has parsed and asks
 * for what it lacks.
 */
export type Work =
  | {
      kind: 'merge';
      base: string;
      head: string;
      draft: string;
      resolutions: Resolution[];
      limits: SourceLimits;
      preview: boolean;
    }
  | { kind: 'file'; base: string; head: string; draft: string; resolutions: Resolution[]; path: string }
  | ({ kind: 'diff'; from: string; to: string } & DiffParts);

export interface MergeOutput {
  status: 'clean' | 'conflicted';
  changes: Changes;
  newBlobs: [sha256: string, bytes: Uint8Array][];
  conflicts: Conflict[];
  faults: { index: number; message: string }[];
  invalid: TreeFault[];
  files: DiffFile[];
}

/** `file` is null if the path is not in conflict. */
export type FileOutput = Pick<MergeOutput, 'faults'> & { file: ConflictFile | null };

/** `near`: another tree of the same work, which the thread has already. */
export type Question =
  | { about: 'tree'; id: string; near: string | null }
  | { about: 'blobs'; shas: string[] };
export type Answer = PackedTree | TreeDelta | { sizes: number[]; bytes: Uint8Array<ArrayBuffer> };

export type ToWorker =
  | { type: 'work'; job: number; work: Work }
  | { type: 'answer'; question: number; answer: Answer | null }
  | { type: 'close' };

export type FromWorker =
  | { type: 'ask'; job: number; question: number; what: Question }
  | { type: 'done'; job: number; output: MergeOutput | DiffFile[] | FileOutput }
  | { type: 'failed'; job: number; message: string }
  /** A git process, so that it can be ended with a thread that hangs. */
  | { type: 'process'; pid: number; alive: boolean }
  | { type: 'closed' };
