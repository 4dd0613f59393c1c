/** All texts have one character per byte, as names need not be UTF-8 and git compares bytes. */
export interface IgnoreQuestion {
  /** The .gitignore files, those of parents first; folder '' = the top. */
  files: { folder: string; text: string }[];
  /** Each ends with a NUL; those of folders with a slash before it. */
  paths: string;
}

export type IgnoreAnswer = { ignored: Uint8Array } | { refused: string };
