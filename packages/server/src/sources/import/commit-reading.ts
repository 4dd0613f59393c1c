/** A commit of a repository on this machine as it becomes a source: what it holds, and its contents by parts. */
import { listTree } from '../../git/list-tree.ts';
import { sortTree } from '../../git/kept-aside.ts';
import type { KeptAside } from '../../git/kept-aside.ts';
import { readGitBlobs } from '../../git/read-blobs.ts';
import { bytesRule, filesRule } from '../../trees/limits.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { decodeManifest, manifestOf, sha256Of } from '../../trees/manifest.ts';
import type { Blob } from '../../trees/pack.ts';
import type { Tree } from '../../trees/tree.ts';

export interface CommitToRead {
  gitDir: string;
  commitSha: string;
  limits: SourceLimits;
  /** Another commit, and the manifest of its source in the same project: what both have is not read. */
  near: { commitSha: string; manifest: Uint8Array } | null;
}

export interface OpenedCommit {
  ok: true;
  /** Bytes of contents to be read, by part. */
  parts: number[];
  /** The first of them. */
  keptAside: KeptAside[];
  keptAsideCount: number;
}

/** The commit breaks a limit, in words for a person. */
export interface TooLarge {
  ok: false;
  rule: string;
}

/** Contents that are in memory at once; only a single larger file is more. */
const PART_BYTES = 32 * 1024 * 1024;
/** As many as an answer shows. */
const SHOWN = 100;

interface Known {
  sha256: string;
  byteSize: number;
}

export class CommitReading {
  readonly #gitDir: string;
  readonly #files: { path: string; object: string; executable: boolean }[];
  /** By the blobs' ids in git. */
  readonly #known: Map<string, Known>;
  /** Ids of the blobs of each part, in order of their first paths. */
  readonly #parts: string[][];

  private constructor(
    gitDir: string,
    files: { path: string; object: string; executable: boolean }[],
    known: Map<string, Known>,
    parts: string[][],
  ) {
    this.#gitDir = gitDir;
    this.#files = files;
    this.#known = known;
    this.#parts = parts;
  }

  static async open({
    gitDir,
    commitSha,
    limits,
    near,
  }: CommitToRead): Promise<{ opened: OpenedCommit; reading: CommitReading } | TooLarge> {
    // What is kept aside is in no source, but has an end as well.
    const { entries, truncated } = await listTree(gitDir, commitSha, limits.files * 4 + 10_000);
    const { files, keptAside } = sortTree(entries, limits.fileBytes);
    if (truncated || files.length > limits.files) return { ok: false, rule: filesRule(limits) };
    const total = files.reduce((sum, { entry }) => sum + entry.byteSize, 0);
    if (total > limits.bytes) return { ok: false, rule: bytesRule(limits) };
    const known = near ? await knownFrom(gitDir, near, limits) : new Map<string, Known>();
    const sizes = new Map<string, number>();
    for (const { entry } of files) if (!known.has(entry.object)) sizes.set(entry.object, entry.byteSize);
    const parts = partsOf(sizes);
    const reading = new CommitReading(
      gitDir,
      files.map(({ path, entry }) => ({ path, object: entry.object, executable: entry.mode === '100755' })),
      known,
      parts.map(({ ids }) => ids),
    );
    const opened: OpenedCommit = {
      ok: true,
      parts: parts.map(({ bytes }) => bytes),
      keptAside: keptAside.slice(0, SHOWN).map(({ path, reason }) => ({ path, reason })),
      keptAsideCount: keptAside.length,
    };
    return { opened, reading };
  }

  /** Reads and hashes the contents of a part. */
  async read(part: number): Promise<Blob[]> {
    const blobs: Blob[] = [];
    for await (const { id, bytes } of readGitBlobs(this.#gitDir, this.#parts[part]!)) {
      const sha256 = sha256Of(bytes);
      this.#known.set(id, { sha256, byteSize: bytes.length });
      blobs.push({ sha256, bytes });
    }
    return blobs;
  }

  /** The files; all parts have been read. */
  tree(): Tree {
    return manifestOf(
      this.#files.map(({ path, object, executable }) => ({ path, ...this.#known.get(object)!, executable })),
    );
  }
}

/** What is known of the blobs of a commit whose source is stored. Nothing, where that commit is not here. */
async function knownFrom(
  gitDir: string,
  { commitSha, manifest }: NonNullable<CommitToRead['near']>,
  limits: SourceLimits,
): Promise<Map<string, Known>> {
  const listed = await listTree(gitDir, commitSha, limits.files * 4 + 10_000).catch(() => null);
  const known = new Map<string, Known>();
  if (!listed) return known;
  const tree = decodeManifest(manifest);
  for (const { path, mode, object } of listed.entries) {
    const entry = mode.startsWith('100') ? tree.get(path.toString('utf8')) : undefined;
    if (entry) known.set(object, { sha256: entry.sha256, byteSize: entry.byteSize });
  }
  return known;
}

function partsOf(sizes: ReadonlyMap<string, number>): { ids: string[]; bytes: number }[] {
  const parts: { ids: string[]; bytes: number }[] = [];
  for (const [id, byteSize] of sizes) {
    const last = parts.at(-1);
    if (last && last.bytes + byteSize <= PART_BYTES) {
      last.ids.push(id);
      last.bytes += byteSize;
    } else parts.push({ ids: [id], bytes: byteSize });
  }
  return parts;
}
