import type { ApplyRow } from '../db/schema.ts';
import type { Staged } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';

/** The head that an apply is merged with. */
export interface Head {
  sourceId: string;
  revision: number;
}

export interface QueuedApply {
  apply: ApplyRow;
  head: Head;
}

/**
 * The outcome of a merge, named by the event that it is for the apply (state.ts). `headSourceId` is the head
 * that was merged with; null where there was no merge.
 */
export type Outcome =
  | Merged
  | { event: 'repair'; conflicts: string[]; modelId: string; prompt: string }
  | { event: 'conflict'; conflicts: string[]; error: string | null; headSourceId: string | null }
  /** `isExhausted`: the attempts at the merge are used up; it is no verdict on the merge. */
  | { event: 'fail'; error: string; headSourceId: string | null; isExhausted?: boolean };

/** The result is a source that exists, or files that become one. */
export type Merged = { event: 'merge'; sourceId: string } | { event: 'merge'; tree: Tree; staged: Staged };
