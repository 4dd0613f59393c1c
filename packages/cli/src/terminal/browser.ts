/** Opens an address in the user's browser. */
import { spawn } from 'node:child_process';
import type { Io } from '../core/io.ts';

/** A program that runs on after this long shows the page. */
const STARTED_MS = 3_000;

/** False if nothing opens it: the caller then says the address. Throws for an address that is not of the web. */
export async function openInBrowser({ env }: Io, address: string): Promise<boolean> {
  const { protocol, href } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`${protocol} is no address of the web.`);
  for (const [program, ...args] of programsFor(env))
    if (program !== undefined && (await starts(program, argumentsWith(args, href), env))) return true;
  return false;
}

/** $BROWSER is a list of commands; `%s` in one is the address. None of them goes through a shell. */
function programsFor({ BROWSER = '' }: Io['env']): string[][] {
  const own = BROWSER.split(process.platform === 'win32' ? ';' : ':').flatMap((command) => {
    const words = command.trim().split(/\s+/);
    return words[0] === '' ? [] : [words];
  });
  if (process.platform === 'darwin') return [...own, ['open']];
  // `start` is a word of the shell: this is what it calls.
  if (process.platform === 'win32') return [...own, ['rundll32', 'url.dll,FileProtocolHandler']];
  return [...own, ['xdg-open'], ['wslview']];
}

const argumentsWith = (args: readonly string[], address: string): string[] =>
  args.some((arg) => arg.includes('%s'))
    ? args.map((arg) => arg.replaceAll('%s', () => address))
    : [...args, address];

/** False if there is no such program, or it ends with an error. */
const starts = (program: string, args: string[], env: Io['env']): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore', env: { ...env } });
    const timer = setTimeout(() => resolve(true), STARTED_MS);
    const end = (isOpen: boolean) => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
    child.unref();
  });
