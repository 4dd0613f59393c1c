/** The messages between repacking and its thread. */

export interface OldPack {
  bytes: Uint8Array;
  index: Uint8Array;
  /** The contents to be taken over, 32 bytes each. */
  hashes: Uint8Array;
}

export type RepackWork =
  /** Each content is hashed; the thread asks for manifests to order them by. */
  | { operation: 'build'; packs: OldPack[] }
  /** Checks that the pack holds exactly these contents, each with its hash. */
  | { operation: 'check'; bytes: Uint8Array; index: Uint8Array; hashes: Uint8Array };

/** `more` asks for the next manifests. */
export type FromThread =
  | { more: true }
  | { packed: { bytes: Uint8Array; index: Uint8Array } | null }
  | { error: string; isDamage: boolean };
/** Newest source first; none: there are no more. */
export interface Manifests {
  manifests: Uint8Array[];
}
