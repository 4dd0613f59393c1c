/** What a source may hold at most. */
export interface SourceLimits {
  files: number;
  bytes: number;
  fileBytes: number;
  /** What is named in messages; absent: a source. */
  of?: string;
}

/** The limits of bundles, and of every source of a project without a repository. */
export const BUNDLE_LIMITS: SourceLimits = {
  files: 10_000,
  bytes: 32 * 1024 * 1024,
  fileBytes: 8 * 1024 * 1024,
};

const MEBI = 1024 * 1024;

/** A number of bytes for a person. */
const sized = (bytes: number): string =>
  bytes >= MEBI && bytes % MEBI === 0 ? `${bytes / MEBI} MiB` : `${bytes} bytes`;

export const filesRule = ({ files, of = 'source' }: SourceLimits): string =>
  `A ${of} holds at most ${files} files.`;
export const bytesRule = ({ bytes, of = 'source' }: SourceLimits): string =>
  `A ${of} holds at most ${sized(bytes)} in all.`;
export const fileBytesRule = ({ fileBytes }: SourceLimits): string =>
  `must not be larger than ${sized(fileBytes)}`;
