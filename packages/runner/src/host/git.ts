import { execFile } from 'node:child_process';

const GIT_MS = 120_000,
  OUTPUT_BYTES = 256 * 1024 ** 2;

/** git failed; the message is its own. */
export class GitFault extends Error {
  override readonly name = 'GitFault';
}

/**
 * Runs git in a folder of this machine, and returns what it printed, with one character per byte. It runs no hooks and no
 * monitor of the repository: an agent may have changed its settings. Throws GitFault.
 */
export function git(folder: string, args: readonly string[]): Promise<string> {
  const settings = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'];
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      [...settings, ...args],
      { cwd: folder, env: environment(), encoding: 'latin1', maxBuffer: OUTPUT_BYTES, timeout: GIT_MS },
      (error, stdout, stderr) => {
        if (error) reject(new GitFault(stderr.trim().slice(0, 1000) || error.message, { cause: error }));
        else resolve(stdout);
      },
    );
  });
}

/** The folder decides which repository it is, not the shell that the program was started from. */
const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(?!SSL|SSH|TRACE)/.test(name))),
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
});

/** The first line of what git prints; undefined where it fails. */
export const gitLine = (folder: string, args: readonly string[]): Promise<string | undefined> =>
  git(folder, args).then(
    (text) => Buffer.from(text.trimEnd(), 'latin1').toString(),
    () => undefined,
  );
