/** What a bare repository of ours has: its branches, and what is in a commit. */
import { isBranchName, isCommitId } from './ref-names.ts';
import { GitError, runGit, startGit } from './run-git.ts';

export interface Branch {
  name: string;
  commitSha: string;
}

const HEADS = 'refs/heads/';

/** All branches in the order of their names' bytes. */
export async function listBranches(gitDir: string): Promise<Branch[]> {
  const { output } = await runGit(gitDir, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    '--sort=refname',
    HEADS,
  ]);
  const lines = output.toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => ({ commitSha: line.slice(0, 40), name: line.slice(41 + HEADS.length) }));
}

/** The commit of a branch, or of a full commit id; null where there is none. */
export async function resolveCommit(gitDir: string, ref: string): Promise<string | null> {
  if (!isBranchName(ref)) return null;
  const input = [`${HEADS}${ref}`, ...(isCommitId(ref) ? [ref] : [])].map((name) => `${name}\n`).join('');
  const { output } = await runGit(gitDir, ['cat-file', '--batch-check'], { input });
  for (const line of output.toString('utf8').split('\n')) {
    const [id, type] = line.split(' ');
    if (type === 'commit') return id!;
  }
  return null;
}

export interface TreeEntry {
  /** As git has them: in no encoding. */
  path: Buffer;
  /** `100644`, `100755`, `120000` or `160000`. */
  mode: string;
  id: string;
  /** 0 for a submodule. */
  byteSize: number;
}

/**
 * Every entry of a commit's tree that is no folder, by path bytes as git orders them; at most `limit`, with
 * `truncated` where there are more.
 */
export async function listTree(
  gitDir: string,
  commitSha: string,
  limit: number,
): Promise<{ entries: TreeEntry[]; truncated: boolean }> {
  const child = startGit(gitDir, ['ls-tree', '-r', '-z', '-l', '--full-tree', commitSha]);
  const entries: TreeEntry[] = [];
  let rest: Buffer = Buffer.alloc(0),
    stderr = '',
    truncated = false;
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  ended.catch(() => undefined);
  child.stdin!.on('error', () => undefined).end();
  child.stderr!.on('data', (data: Buffer) => {
    stderr = (stderr + data.toString('utf8')).slice(-4096);
  });
  for await (const data of child.stdout! as AsyncIterable<Buffer>) {
    let from = 0;
    const all = rest.length ? Buffer.concat([rest, data]) : data;
    for (let end = all.indexOf(0); end >= 0 && !truncated; end = all.indexOf(0, from)) {
      truncated = entries.length === limit;
      if (!truncated) entries.push(readEntry(all.subarray(from, end)));
      from = end + 1;
    }
    if (truncated) {
      child.kill('SIGKILL');
      break;
    }
    rest = all.subarray(from);
  }
  const code = await ended;
  if (code !== 0 && !truncated)
    throw new GitError(`git ls-tree ended (${code}): ${stderr.trim()}`, { code, stderr, timedOut: false });
  return { entries, truncated };
}

/** `<mode> <type> <id> <size padded to 7>\t<path>` */
function readEntry(line: Buffer): TreeEntry {
  const tab = line.indexOf(9);
  const [mode, , id, size] = line.toString('latin1', 0, tab).split(/ +/);
  return {
    mode: mode!,
    id: id!,
    byteSize: size === '-' ? 0 : Number(size),
    path: Buffer.from(line.subarray(tab + 1)),
  };
}
