/** What a repair starts from, and what it leaves: the domain of its merge gives the one and takes the other. */
import type { Context } from '../../context.ts';
import type { Repair, RunRow } from '../../db/schema.ts';
import type { Tx } from '../../db/transaction.ts';
import type { Staged } from '../../sources/index.ts';
import type { LoadedThread } from '../../threads/index.ts';
import type { Tree } from '../../trees/tree.ts';

/** The folder of a repair's evidence and report; never part of a source. */
export const FOLDER = '.hoplite/repair';

interface Evidence {
  path: string;
  content: string;
  encoding: 'utf8' | 'base64';
}

/**
 * What a repair starts from. The same for every worker that takes the run: it is made of sources that never
 * change.
 */
export interface Attempt {
  /** The clean merge; paths in conflict as in the draft. */
  files: Tree;
  /** Contents of it that the project does not have, by SHA-256. */
  made: ReadonlyMap<string, Buffer>;
  evidence: Evidence[];
  /** Paths to resolve. */
  conflicts: string[];
  /** Those of them in which a conflict marker is an unresolved conflict, not the author's text. */
  unmarked: string[];
}

export interface RepairResult {
  /** Why it is no candidate; null for one, and for a report that says unresolved. */
  error: string | null;
  report: Repair['report'];
  /** SHA-256 of the files that the repair left; null when they could not be read. */
  fingerprint: string | null;
  /** What may be applied. */
  candidate: { tree: Tree; staged: Staged } | null;
}

/** The domain of a merge, which runs do not import. */
export interface Repairs {
  attempt(ctx: Context, run: RunRow): Promise<Attempt>;
  /** In the transaction that ends the run. `result` is null when it was stopped. */
  ended(tx: Tx, loaded: LoadedThread, run: RunRow, result: RepairResult | null): Promise<void>;
}
