import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { RunnerError } from '../errors.ts';
import { DEFAULT_LIMITS } from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import type { Tree } from '../workspaces/tree.ts';

const TIMEOUT_MS = 120_000;

/**
 * Walks down to the folder name by name, so that no link is followed, then packs it unchanged. Names what it
 * refuses: sockets, which tar skips, entries that cannot be read, and files with a second name, which tar
 * reveals only where both names are in the folder. Exit 64: missing; 65: not a folder of the workspace; 66:
 * holds what may not be packed.
 */
const SCRIPT = `set -f
IFS=/
for name in $1; do
  [ -L "$name" ] && { echo "$name" >&2; exit 65; }
  [ -e "$name" ] || exit 64
  [ -d "$name" ] || { echo "$name" >&2; exit 65; }
  cd "./$name" || exit 66
done
bad=$(find . ! -type l \\( -type s -o ! -readable -o -type f -links +1 \\) -print -quit 2>&1)
[ -z "$bad" ] || { echo "$bad" >&2; exit 66; }
exec tar -cf - --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime=@0 .`;

/** The folder's entries as a GNU tar (names begin with `./`), read in a fresh read-only sandbox. */
export async function readOutput(host: Host, tree: Tree, outputDirectory: string): Promise<Readable> {
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', SCRIPT, 'sh', outputDirectory],
    binds: [tree.bind({ readOnly: true })],
    limits: DEFAULT_LIMITS,
  });
  sandbox.stdin.end();
  const timer = setTimeout(() => void sandbox.kill().catch(() => {}), TIMEOUT_MS);
  let stderr = '';
  sandbox.stderr.setEncoding('utf8').on('data', (part: string) => {
    if (stderr.length < 2000) stderr += part;
  });
  const archive = new PassThrough();
  archive.on('close', () => void sandbox.kill().catch(() => {}));
  sandbox.stdout.pipe(archive, { end: false });
  // tar's first block says that the walk succeeded; before it the exit code says why it did not.
  const isStarted = new Promise<boolean>((resolve) => {
    sandbox.stdout.once('data', () => resolve(true)).once('close', () => resolve(false));
  });
  const exit = sandbox.exited.finally(() => clearTimeout(timer));
  exit.catch(() => {
    /* awaited below: it may come before the streams' end */
  });
  if (!(await isStarted)) throw refusal((await exit).code, stderr.trim(), outputDirectory);
  Promise.all([exit, finished(sandbox.stdout, { writable: false })])
    .then(([{ code }]) => {
      if (code !== 0) throw new Error(`tar ended with ${code}: ${stderr.trim()}`);
      return archive.end();
    })
    .catch((error: Error) => archive.destroy(error));
  return archive;
}

function refusal(code: number | null, said: string, outputDirectory: string): RunnerError {
  if (code === 64)
    return new RunnerError(404, 'output_missing', `The output directory ${outputDirectory} does not exist.`);
  if (code === 65)
    return new RunnerError(
      409,
      'output_invalid',
      `The output directory ${outputDirectory} is not a folder of its own: ${said} is a link or a file.`,
    );
  if (code === 66)
    return new RunnerError(
      409,
      'output_invalid',
      `The output directory ${outputDirectory} holds a hard link, a socket or what cannot be read: ${said.replace(/^\.\//, '')}`,
    );
  return new RunnerError(
    500,
    'output_unreadable',
    `The output directory could not be read (${code}): ${said}`,
  );
}
