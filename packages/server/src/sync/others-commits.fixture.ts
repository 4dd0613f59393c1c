/** Commits that others make in a repository of the service, past it. */
import { runGit } from '../git/run-git.ts';
import { localFolder } from '../scm/local/folders.ts';
import type { TestServer } from '../service.fixture.ts';

interface OthersCommit {
  repositoryId: string;
  branch: string;
  /** Contents by path; null removes. A content that begins with `->` is a symbolic link. */
  files: Record<string, string | null>;
  message?: string;
  /** Instead of upon the branch's newest commit. */
  from?: string;
}

/** Makes a commit on a branch, which it may rewrite; returns its id. */
export async function commitAsOther(
  s: TestServer,
  { repositoryId, branch, files, message = 'Theirs', from = `refs/heads/${branch}^0` }: OthersCommit,
): Promise<string> {
  const folder = localFolder(s.service.ctx.config, repositoryId);
  const changes = Object.entries(files).map(([path, content]) => {
    if (content === null) return `D ${path}\n`;
    const isLink = content.startsWith('->');
    const bytes = isLink ? content.slice(2) : content;
    return `M ${isLink ? '120000' : '100644'} inline ${path}\ndata ${Buffer.byteLength(bytes)}\n${bytes}\n`;
  });
  await runGit(folder, ['fast-import', '--quiet', '--force'], {
    input: `commit refs/heads/${branch}\ncommitter Ada <ada@example.test> 1767225600 +0000\ndata ${Buffer.byteLength(message)}\n${message}\nfrom ${from}\n${changes.join('')}\ndone\n`,
  });
  return (await runGit(folder, ['rev-parse', `refs/heads/${branch}`])).output.toString().trim();
}
