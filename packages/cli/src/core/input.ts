/** What a command reads besides its arguments: files, stdin, and secrets, which are never arguments. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Cli } from './cli.ts';
import { usage } from './fault.ts';

/** More than any body that is written by hand; the service's own limits are lower. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The text of a file, or of stdin for `-`. */
export async function readText(cli: Cli, file: string): Promise<string> {
  if (file === '-') return readStdin(cli);
  try {
    return readFileSync(resolve(cli.io.cwd, file), 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Asked for without being shown on a terminal, else the text of stdin. `what`: for messages, `password`. */
export async function readSecret(cli: Cli, what: string): Promise<string> {
  const text = cli.io.stdin.isTTY
    ? await cli.secret(`The ${what}:`, `the ${what} on stdin`)
    : (await readStdin(cli)).trim();
  if (text === '') throw usage(`The ${what} is missing: give it on stdin, never as an argument.`);
  return text;
}

async function readStdin({ io: { stdin }, signal }: Cli): Promise<string> {
  if (stdin.isTTY) throw usage('There is nothing on stdin: give a file, or a pipe.');
  const stop = () => stdin.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      chunks.push(Buffer.from(chunk));
      if ((bytes += chunk.length) > MOST_BYTES) throw usage('stdin has more than 8 MiB.');
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
