/** What a command reads besides its arguments: files, stdin, and secrets, which are never arguments. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Cli } from './cli.ts';
import { usage } from './fault.ts';

/** More than any body that is written by hand; the service's own limits are lower. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The text of a file, or of stdin for `-`. */
export const readText = async (cli: Cli, file: string): Promise<string> =>
  (await readBytes(cli, file)).toString('utf8');

/** The bytes of a file, or of stdin for `-`, of which at most `mostBytes` are taken. */
export async function readBytes(cli: Cli, file: string, mostBytes = MOST_BYTES): Promise<Buffer> {
  if (file === '-') return readStdin(cli, mostBytes);
  try {
    return readFileSync(resolve(cli.io.cwd, file));
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Asked for without being shown on a terminal, else the text of stdin. `what`: for messages, `password`. */
export async function readSecret(cli: Cli, what: string): Promise<string> {
  const text = cli.io.stdin.isTTY
    ? await cli.secret(`The ${what}:`, `the ${what} on stdin`)
    : (await readText(cli, '-')).trim();
  if (text === '') throw usage(`The ${what} is missing: give it on stdin, never as an argument.`);
  return text;
}

async function readStdin({ io: { stdin }, signal }: Cli, mostBytes: number): Promise<Buffer> {
  if (stdin.isTTY) throw usage('There is nothing on stdin: give a file, or a pipe.');
  const stop = () => stdin.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      chunks.push(Buffer.from(chunk));
      if ((bytes += chunk.length) > mostBytes)
        throw usage(`stdin has more than ${mostBytes / 1024 ** 2} MiB.`);
    }
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Refuses options of which one excludes the others. */
export function atMostOne<O extends object>(options: O, names: readonly (keyof O & string)[]): void {
  const [one, other] = names.filter((name) => isGiven(options[name]));
  if (other !== undefined) throw usage(`--${one} and --${other} exclude each other.`);
}

const isGiven = (value: unknown) =>
  value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);

/** `90d` and the like mean that long ago; anything else is the service's to judge. */
export function momentOf(text: string | undefined, nowMs: number = Date.now()): string | undefined {
  const [, count, unit] = /^(\d+)([smhdw])$/.exec(text ?? '') ?? [];
  if (count === undefined) return text;
  return new Date(nowMs - Number(count) * UNITS_MS[unit!]!).toISOString();
}

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
