/**
 * The messages between the pool and its worker thread. Buffers are transferred, not copied; manifests and
 * indexes travel encoded.
 */
import type { Warning } from './bundle.ts';
import type { Refusal } from './bundle-rules.ts';
import type { CommitToRead, OpenedCommit, TooLarge } from './commit-reading.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import type { Blob } from '../../trees/pack.ts';
import type { ParsedSkill } from './skill.ts';
import type { Links } from './tar-links.ts';

/** A source whose contents the worker keeps until `packBlobs` or `release`. */
export interface StagedSource {
  ok: true;
  manifest: Uint8Array;
  sourceSha256: string;
  byteSize: number;
  fileCount: number;
}

/** JSON, or a tar.gz whose symbolic links are treated so. */
export type ImportFormat = 'application/json' | { links: Links };

export interface ParsedImport extends StagedSource {
  warnings: Warning[];
  parentSourceId: string | null;
  message: string | null;
  fingerprint: Uint8Array;
}

export interface ParsedEdit {
  ok: true;
  baseSourceId: string;
  message: string | null;
  fingerprint: Uint8Array;
}

export interface EditedSource extends StagedSource {
  /** SHA-256 of the contents of the changes. */
  brought: string[];
}

export interface EncodedPack {
  bytes: Uint8Array;
  index: Uint8Array;
}

/** Input and output of every operation of the worker. `handle` names what the worker keeps. */
export interface Operations {
  parseImport: {
    input: { handle: number; bytes: Uint8Array; format: ImportFormat };
    output: ParsedImport | ParsedEdit | Refusal;
  };
  parseEdit: {
    input: { handle: number; bytes: Uint8Array; limits: SourceLimits };
    output: ParsedEdit | Refusal;
  };
  applyEdit: {
    input: { handle: number; manifest: Uint8Array; limits: SourceLimits };
    output: EditedSource | Refusal;
  };
  packBlobs: { input: { handle: number; exclude: readonly string[] }; output: EncodedPack };
  /** Keeps nothing. */
  parseSkill: { input: { bytes: Uint8Array; name: string }; output: ParsedSkill | Refusal };
  release: { input: { handle: number }; output: null };
  packContents: { input: { blobs: readonly Blob[] }; output: EncodedPack };
  openCommit: { input: { handle: number } & CommitToRead; output: OpenedCommit | TooLarge };
  /** The part's contents are kept under `handle`, by these hashes of 32 bytes. */
  readCommitPart: {
    input: { handle: number; commit: number; part: number };
    output: { ok: true; hashes: Uint8Array };
  };
  closeCommit: { input: { handle: number }; output: StagedSource };
}

export type OperationName = keyof Operations;
export interface Job {
  id: number;
  operation: OperationName;
  input: unknown;
}
export type Answer =
  | { id: number; output: unknown }
  | { id: number; error: { message: string; code: string | null } };
