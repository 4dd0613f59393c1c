import type { Changes, Entry, Tree } from '../trees/tree.ts';

/** Contents by SHA-256. Every hash that was asked for is in the answer, else it throws. */
export type ReadBlobs = (shas: string[]) => Promise<Map<string, Buffer>>;

export interface Sides {
  base: Tree;
  head: Tree;
  draft: Tree;
}

export type ConflictKind = 'content' | 'add_add' | 'delete_modify' | 'rename' | 'mode' | 'binary' | 'path';

/**
 * One region that both sides changed: its lines on each side, without line ends, and where they begin (from
 * 1; of no lines: the line before).
 */
export interface Hunk {
  baseStart: number;
  headStart: number;
  draftStart: number;
  base: string[];
  head: string[];
  draft: string[];
}

/**
 * `base`, `head` and `draft` are the SHA-256 of what each side's own tree has at `path`, null for nothing.
 */
export interface Conflict {
  path: string;
  kind: ConflictKind;
  base: string | null;
  head: string | null;
  draft: string | null;
  hunks?: Hunk[];
}

/** What a side has at a path. */
export interface ConflictSide extends Entry {
  encoding: 'utf8' | 'base64';
  /** Null if over 1 MiB. */
  content: string | null;
}

/** Git's merged text, with its markers. */
export interface ConflictText {
  content: string;
  /** The lines of each conflict, including its markers, counted from 1. */
  regions: { fromLine: number; toLine: number }[];
}

export interface ConflictFile {
  path: string;
  kind: ConflictKind;
  base: ConflictSide | null;
  head: ConflictSide | null;
  draft: ConflictSide | null;
  /** Null if git cannot merge text here, or if the text is over 1 MiB or not UTF-8. */
  merged: ConflictText | null;
}

export interface Merge {
  status: 'clean' | 'conflicted';
  /** From the head to the clean merge; conflicted paths become as in the draft. */
  changes: Changes;
  /** Merged contents that none of the three sides has, by SHA-256. */
  newBlobs: Map<string, Buffer>;
  /** Sorted by path bytes. */
  conflicts: Conflict[];
  /**
   * Every path that is not the same on all three sides, or that git named: only these can differ from the
   * head or collide.
   */
  touched: string[];
  /**
   * The contents that git tried to merge at a conflicting path, by SHA-256: of a moved file also those from
   * its other path.
   */
  stages: Map<string, { base?: string | undefined; head?: string | undefined; draft?: string | undefined }>;
}

/** What git writes after the markers of a side: the name of its commit, and `:` with the path if it was moved. */
export interface MarkerLabels {
  head: string;
  draft: string;
}

/** A merge whose texts are still in git's repository. */
export interface FreshMerge extends Merge {
  /**
   * The content that git made at a path, with markers if it is in conflict; undefined if git merged no contents
   * there.
   */
  madeAt(path: string): { text: Buffer; labels: MarkerLabels } | undefined;
}

export interface Resolution {
  path: string;
  take: 'head' | 'draft';
}

export interface DiffFile {
  path: string;
  oldPath?: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  binary: boolean;
  additions: number;
  deletions: number;
  patch?: string;
  truncated?: boolean;
}

/** The requested parts of a difference. Nothing else is computed, except to find the names of moved files. */
export interface DiffParts {
  /** Only the files that have one of these paths, before or after. */
  paths?: readonly string[] | undefined;
  /** Without patches, a file has only its counts. */
  patches?: boolean | undefined;
}
