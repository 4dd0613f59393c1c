/** The entries of a commit's tree. */
import { GitError, startGit } from './run-git.ts';

/** What a tree has at a path: a file, a link or a submodule, never a folder. */
export interface TreeEntry {
  /** As git has it: bytes, not always UTF-8. */
  path: Buffer;
  /** `100644`, `100755`, `120000` (link), `160000` (submodule). */
  mode: string;
  object: string;
  /** 0 for a submodule. */
  byteSize: number;
}

const LIMIT_MS = 120_000;
const MAX_STDERR = 4096;
/** Of all paths together: 50,000 of the longest that a source takes. Deep folders make more of a few bytes. */
const MAX_PATH_BYTES = 64 * 1024 * 1024;

/**
 * The entries of a commit's tree, all folders through, in the order of their paths' bytes; at most
 * `maxEntries`, or 64 MiB of paths, then `truncated`.
 */
export async function listTree(
  gitDir: string,
  commitSha: string,
  maxEntries: number,
): Promise<{ entries: TreeEntry[]; truncated: boolean }> {
  const child = startGit(gitDir, ['ls-tree', '-r', '-z', '-l', '--full-tree', commitSha]);
  const entries: TreeEntry[] = [];
  let truncated = false,
    timedOut = false,
    stderr = '',
    pathBytes = 0,
    rest: Buffer = Buffer.alloc(0);
  child.stdin!.end();
  child.stderr!.on('data', (data: Buffer) => {
    stderr = (stderr + data.toString('utf8')).slice(-MAX_STDERR);
  });
  child.stdout!.on('data', (data: Buffer) => {
    if (truncated) return;
    const text = rest.length ? Buffer.concat([rest, data]) : data;
    let from = 0;
    for (let end = text.indexOf(0); end !== -1; end = text.indexOf(0, from)) {
      pathBytes += end - from;
      if (entries.length === maxEntries || pathBytes > MAX_PATH_BYTES) {
        truncated = true;
        child.kill('SIGKILL');
        return;
      }
      entries.push(entryOf(text.subarray(from, end)));
      from = end + 1;
    }
    rest = Buffer.from(text.subarray(from));
  });
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, LIMIT_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code === 0 || truncated) return { entries, truncated };
    throw new GitError(`git ls-tree ended (${code}): ${stderr.trim()}`, { code, stderr, timedOut });
  } finally {
    clearTimeout(timer);
  }
}

/** `<mode> <type> <object> <size>\t<path>`, the size padded, or `-`. */
function entryOf(line: Buffer): TreeEntry {
  const tab = line.indexOf(9);
  const [mode, , object, size] = line.toString('latin1', 0, tab).split(/ +/);
  return {
    path: Buffer.from(line.subarray(tab + 1)),
    mode: mode!,
    object: object!,
    byteSize: size === '-' ? 0 : Number(size),
  };
}
