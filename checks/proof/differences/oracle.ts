/** For tests: what git itself says of the difference of two trees, and what `git apply` makes of patches. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIT_ENVIRONMENT } from '../../../packages/server/src/git/environment.ts';
import type { Git } from '../../../packages/server/src/merge/git.ts';
import { sameEntry } from '../../../packages/server/src/trees/tree.ts';
import type { DiffFile } from '../../../packages/server/src/merge/types.ts';
import type { Entry, Tree } from '../../../packages/server/src/trees/tree.ts';

/** Output of a git command in the repository that holds the trees. */
type Run = (args: string[], input: string | Buffer) => Promise<Buffer> | Buffer;

/** A busy machine must not make a difference coarse. */
export const patient = (git: Git): Git => ({
  ...git,
  diffTree: (from, to, _limitMs, how) => git.diffTree(from, to, 60_000, how),
});

export type Told = Omit<DiffFile, 'patch' | 'truncated'>;

const STATUS: Record<string, DiffFile['status']> = { A: 'added', D: 'deleted', R: 'renamed', M: 'modified' };

/** Git's own account of each pair of trees, sorted by path bytes, by one process. */
export async function gitDiffs(git: Run, pairs: [from: string, to: string][]): Promise<Told[][]> {
  const answer = await git(
    ['diff-tree', '--stdin', '-r', '-z', '-M50%', '--full-index', '--raw', '--numstat'],
    pairs.map((pair) => `${pair.join(' ')}\n`).join(''),
  );
  let at = 0;
  const upTo = (end: number): string => {
    const text = answer.toString('utf8', at, answer.indexOf(end, at));
    at = answer.indexOf(end, at) + 1;
    return text;
  };
  return pairs.map((pair) => {
    const header = upTo(10);
    if (header !== pair.join(' ')) throw new Error(`git tells of ${header}`);
    const files: Told[] = [];
    while (answer[at] === 0x3a) {
      const [oldMode, newMode, oldOid, newOid, letter = ''] = upTo(0).split(' ');
      const first = upTo(0);
      const status =
        letter === 'M' && oldOid === newOid && `:${newMode}` !== oldMode ? 'mode' : STATUS[letter[0]!]!;
      const paths = status === 'renamed' ? { path: upTo(0), oldPath: first } : { path: first };
      files.push({ ...paths, status, binary: false, additions: 0, deletions: 0 });
    }
    for (const file of files) {
      const [additions, deletions] = upTo(0).split('\t');
      // Both paths again.
      if (file.oldPath !== undefined) at = answer.indexOf(0, answer.indexOf(0, at) + 1) + 1;
      Object.assign(
        file,
        additions === '-' ? { binary: true } : { additions: Number(additions), deletions: Number(deletions) },
      );
    }
    return files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  });
}

/** Writes trees as git has them and gives their ids. */
export async function writeTrees(
  git: Run,
  trees: Tree[],
  contents: ReadonlyMap<string, Buffer>,
): Promise<string[]> {
  const parts: Buffer[] = [];
  for (const [n, tree] of trees.entries()) {
    parts.push(Buffer.from(`commit refs/heads/tree-${n}\ncommitter t <t> 0 +0000\ndata 0\ndeleteall\n`));
    for (const [path, { executable, sha256 }] of tree) {
      const content = contents.get(sha256)!;
      parts.push(
        Buffer.from(
          `M ${executable ? '100755' : '100644'} inline "${path.replaceAll('"', '\\"')}"\ndata ${content.length}\n`,
        ),
        content,
        Buffer.from('\n'),
      );
    }
  }
  await git(['fast-import', '--quiet', '--force'], Buffer.concat(parts));
  const ids = await git(['rev-parse', ...trees.map((_, n) => `tree-${n}^{tree}`)], '');
  return ids.toString().trim().split('\n');
}

/** Git's id of a content. */
export const blobId = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

export interface Attempt {
  from: Tree;
  to: Tree;
  files: DiffFile[];
}

/** Applies the patches of an index, then lists it; a failure leaves its words in `.err`. */
const APPLY = `cd "$1"; n=0
while [ $n -lt $2 ]; do
  export GIT_INDEX_FILE="$1/$n.index"
  { git update-index -z --index-info < $n.from && { [ ! -s $n.patch ] || git apply --cached --whitespace=nowarn $n.patch; } && git ls-files -s -z > $n.to; } 2> $n.err
  n=$((n+1))
done`;

/**
 * Applies the patches of each attempt to an index that holds its `from`, and returns by attempt how the
 * outcome differs from `to`. What the answer has without a patch is done by hand, as a reader of the answer
 * would: its contents are in `to`. @param repository that holds all contents, by `oidOf` their SHA-256
 */
export function faultsOfPatches(
  repository: string,
  attempts: Attempt[],
  oidOf: (sha256: string) => string,
): string[][] {
  const dir = mkdtempSync(join(tmpdir(), 'headrace-apply-'));
  const rowOf = (path: string, { executable, sha256 }: Entry): string =>
    `${executable ? '100755' : '100644'} ${oidOf(sha256)} 0\t${path}`;
  try {
    attempts.forEach(({ from, files }, n) => {
      const byHand = new Set(files.flatMap((f) => (f.patch === undefined ? [f.oldPath ?? f.path] : [])));
      writeFileSync(
        join(dir, `${n}.from`),
        [...from]
          .filter(([path]) => !byHand.has(path))
          .map(([path, entry]) => `${rowOf(path, entry)}\0`)
          .join(''),
      );
      writeFileSync(join(dir, `${n}.patch`), files.map((f) => f.patch ?? '').join(''));
    });
    execFileSync('sh', ['-c', APPLY, 'sh', dir, String(attempts.length)], {
      env: { ...GIT_ENVIRONMENT, PATH: process.env['PATH'], GIT_DIR: repository },
    });
    return attempts.map(({ from, to, files }, n) => {
      const complaint = readFileSync(join(dir, `${n}.err`), 'utf8');
      if (complaint !== '') return [complaint];
      const got = new Set(
        readFileSync(join(dir, `${n}.to`), 'utf8')
          .split('\0')
          .filter(Boolean),
      );
      for (const f of files)
        if (f.patch === undefined && f.status !== 'deleted')
          got.add(rowOf(f.path, withoutPatch(f, from, to)));
      const wanted = new Set([...to].map(([path, entry]) => rowOf(path, entry)));
      return [
        ...[...wanted].filter((row) => !got.has(row)).map((row) => `lacks ${row}`),
        ...[...got].filter((row) => !wanted.has(row)).map((row) => `has ${row}`),
      ];
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What the answer says of a file without a patch: its content where the answer has it, else the new one. */
function withoutPatch(file: DiffFile, from: Tree, to: Tree): Entry {
  const [was, is] = [from.get(file.oldPath ?? file.path), to.get(file.path)!];
  if (file.status === 'mode') return { ...was!, executable: !was!.executable };
  const isKept = !file.binary && !file.truncated && file.status === 'renamed';
  return isKept && !sameEntry(was, is) ? { ...was!, executable: is.executable } : is;
}
