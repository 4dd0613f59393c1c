/** What repacking and its thread say to each other. */

export interface OldPack {
  bytes: Uint8Array;
  index: Uint8Array;
  /** The contents to be taken over, 32 bytes each. */
  hashes: Uint8Array;
}

export type RepackWork =
  /** Each content is hashed; the thread asks for manifests to order them by. */
  | { operation: 'build'; packs: OldPack[] }
  /** Whether the pack holds just these contents, each what its hash says. */
  | { operation: 'check'; bytes: Uint8Array; index: Uint8Array; hashes: Uint8Array };

/** `more`: the next manifests are asked for. */
export type FromThread =
  | { more: true }
  | { packed: { bytes: Uint8Array; index: Uint8Array } | null }
  | { error: string; isDamage: boolean };
/** Newest source first; none: there are no more. */
export interface Manifests {
  manifests: Uint8Array[];
}
