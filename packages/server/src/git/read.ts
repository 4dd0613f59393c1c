/** What a bare repository of ours has: its branches and commits. */
import { isBranchName, isCommitId } from './ref-names.ts';
import { runGit } from './run-git.ts';

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
