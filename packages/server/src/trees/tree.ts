/** The files of a source as they are compared, merged and stored. */

/** A file of a source as its manifest has it. */
export interface Entry {
  /** Lower-case hex. */
  sha256: string;
  byteSize: number;
  executable: boolean;
}

/**
 * Path → entry, iterated in the order of the path bytes, which `manifestOf` makes.
 */
export type Tree = ReadonlyMap<string, Entry>;

/** What turns one tree into another, in the order of the path bytes; null deletes. */
export type Changes = [path: string, entry: Entry | null][];

export const sameEntry = (a: Entry | undefined, b: Entry | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.sha256 === b.sha256 && a.executable === b.executable);
