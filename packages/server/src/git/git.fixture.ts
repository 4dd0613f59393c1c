/** Commits for tests, made by git itself. */
import { runGit } from './run-git.ts';

export interface FileOf {
  path: string;
  content: string | Buffer;
  mode?: '100644' | '100755' | '120000';
}

/** A commit of these files alone on a branch, which is made or moved; returns its id. */
export async function commitFiles(
  gitDir: string,
  branch: string,
  files: readonly FileOf[],
  message = 'A commit',
): Promise<string> {
  const text = (value: string) => `data ${Buffer.byteLength(value)}\n${value}\n`;
  const parts: (string | Buffer)[] = [
    `commit refs/heads/${branch}\n`,
    'author Ada <ada@example.test> 1700000000 +0000\ncommitter Ada <ada@example.test> 1700000000 +0000\n',
    text(message),
  ];
  const found = await runGit(gitDir, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], {
    codes: [0, 1],
  });
  if (found.code === 0) parts.push(`from ${found.output.toString().trim()}\ndeleteall\n`);
  for (const { path, content, mode = '100644' } of files)
    parts.push(
      `M ${mode} inline ${JSON.stringify(path)}\ndata ${Buffer.byteLength(content)}\n`,
      content,
      '\n',
    );
  const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
  await runGit(gitDir, ['fast-import', '--quiet', '--date-format=raw', '--force'], { input });
  return (await runGit(gitDir, ['rev-parse', `refs/heads/${branch}`])).output.toString().trim();
}
