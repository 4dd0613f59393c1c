import { GitError, startGit } from './run-git.ts';

/**
 * The contents of blobs of a repository in the order of `ids`, each once per mention. Throws GitError where
 * one is missing or damaged.
 */
export async function* readGitBlobs(
  gitDir: string,
  ids: readonly string[],
): AsyncGenerator<{ id: string; bytes: Buffer }> {
  const child = startGit(gitDir, ['cat-file', '--batch']);
  let stderr = '';
  child.stderr!.on('data', (data: Buffer) => (stderr = (stderr + data.toString('utf8')).slice(-4096)));
  child.stdin!.on('error', () => undefined); // the end of the output says what was wrong
  child.stdin!.end(ids.map((id) => `${id}\n`).join(''));
  const failed = (what: string) =>
    new GitError(`git cat-file ${what}: ${stderr.trim()}`, {
      code: child.exitCode,
      stderr,
      timedOut: false,
    });
  const spawned = new Promise<never>((_, reject) => child.once('error', reject));
  spawned.catch(() => undefined);
  const chunks = (child.stdout! as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<Buffer> => {
    const next = await Promise.race([chunks.next(), spawned]);
    if (next.done) throw failed('ended early');
    return next.value;
  };
  try {
    for (const id of ids) {
      let end: number;
      while ((end = rest.indexOf(10)) < 0) rest = Buffer.concat([rest, await more()]);
      const [, type, size] = rest.toString('latin1', 0, end).split(' ');
      if (type !== 'blob') throw failed(`has no blob (${type})`);
      rest = rest.subarray(end + 1);
      const bytes = Buffer.allocUnsafe(Number(size) + 1);
      for (let filled = 0; filled < bytes.length;) {
        if (rest.length === 0) rest = await more();
        const taken = rest.copy(bytes, filled);
        filled += taken;
        rest = rest.subarray(taken);
      }
      yield { id, bytes: bytes.subarray(0, -1) };
    }
  } finally {
    child.kill('SIGKILL');
  }
}
