/**
 * `headrace repos clone`: git with this command as its credential helper. git asks the helper over a pipe, so the key is
 * in no argument, no URL and no file of the clone; fetches and pushes of the clone ask again.
 */
import { spawn } from 'node:child_process';
import { basename, resolve } from 'node:path';
import type { Repository } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { quoted } from '../core/shell-text.ts';
import { readText } from '../core/input.ts';
import { repositoryNamed, rememberRepository } from './named.ts';

export async function cloneRepository(
  cli: Cli,
  [text, folder]: [string, string | undefined],
  gitOptions: readonly string[],
): Promise<void> {
  const id = await repositoryNamed(cli, text);
  const repository = await cli.client.scm.getRepository(id, { signal: cli.signal });
  const url = addressOf(repository, cli.target.url);
  const path = resolve(cli.io.cwd, folder ?? basename(new URL(url).pathname, '.git'));
  const credential = repository.provider === 'local' ? helperOptions(cli) : [];
  const progress = cli.globals.quiet ? ['--quiet'] : cli.io.stderr.isTTY ? ['--progress'] : [];
  await runGit(cli, ['clone', ...progress, ...credential, ...gitOptions, '--', url, path]);
  rememberRepository(cli, id);
  cli.show({ repository, path }, () => path);
}

/** A key goes only to the address that it was given for, whatever address the service names for its repositories. */
function addressOf({ provider, cloneUrl }: Repository, service: string): string {
  if (provider === 'local') return `${service}/git/${basename(new URL(cloneUrl).pathname)}`;
  if (/^https?:\/\//.test(cloneUrl)) return cloneUrl;
  throw new Fault(EXIT.failed, `The service names ${JSON.stringify(cloneUrl)} as the repository's address.`);
}

/** The empty helper first: no other helper of the user gets the key to store. */
function helperOptions({ io, target, globals }: Cli): string[] {
  const key = `credential.${target.url}.helper`;
  const context = globals.context === undefined ? [] : ['--context', globals.context];
  const command = [...io.program, 'repos', 'credential', '--url', target.url, ...context];
  return ['--config', `${key}=`, '--config', `${key}=!${command.map(quoted).join(' ')}`];
}

async function runGit({ io, signal, canAsk }: Cli, args: readonly string[]): Promise<void> {
  const env = { ...io.env, ...(!canAsk && { GIT_TERMINAL_PROMPT: '0' }) };
  const git = spawn('git', args, { cwd: io.cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  git.stderr.on('data', (chunk: Buffer) => io.stderr.write(chunk));
  const stop = () => git.kill('SIGINT');
  signal.addEventListener('abort', stop, { once: true });
  try {
    const code = await new Promise<number | null>((end, fail) => git.once('close', end).once('error', fail));
    signal.throwIfAborted();
    if (code !== 0) throw new Fault(EXIT.failed, 'git did not clone the repository; its message is above.');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw usage('git is not installed, or not in PATH.', 'https://git-scm.com');
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** git's protocol of credential helpers: what git asks for is on stdin, the answer goes to stdout. */
export async function answerGit(cli: Cli, operation: string): Promise<void> {
  // `store` and `erase` are not for this helper: the sign-in is kept by `headrace login`.
  if (operation !== 'get') return;
  const { url, credential } = cli.target;
  if (!credential) throw cli.notSignedIn();
  const asked = new URLSearchParams((await readText(cli, '-')).trim().replaceAll('\n', '&'));
  const service = new URL(url);
  if (asked.get('protocol') !== service.protocol.slice(0, -1) || asked.get('host') !== service.host)
    throw usage(`git asks for another address than ${url}.`);
  const password = 'key' in credential ? credential.key : sessionOf(credential.session.cookie);
  cli.show({ username: 'headrace', password }, () => `username=headrace\npassword=${password}`);
}

/** The service takes the value of the session's cookie as a password. */
const sessionOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1);
