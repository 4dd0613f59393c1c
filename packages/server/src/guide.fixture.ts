/** Runs the commands of guides unchanged. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** The missing programs among those that the guides use. The service needs none of them. */
export const missing = ['curl', 'jq', 'uuidgen'].filter((command) => spawnSync(command, ['--version']).error);
/** A suffix for the names of tests that need them. */
export const hint = missing.length > 0 ? ` (install ${missing.join(', ')} to run this)` : '';

/** A guide's text. */
export const readGuide = (guide: string): string =>
  readFileSync(join(import.meta.dirname, '../../../docs/guides', guide), 'utf8');

/** A guide's blocks of commands. */
export const commandsOf = (guide: string): string[] =>
  [...readGuide(guide).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);

/** The codes in the first column of a guide's table, which begins with `header`. */
export const codesOf = (guide: string, header: string): string[] => {
  const text = readGuide(guide);
  const [rows] = /(?:^\| `\w+`.*\n)+/m.exec(text.slice(text.indexOf(header) + header.length))!;
  return [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code!).toSorted();
};

/** The values of an enum field that may be null. */
export const valuesOf = (schema: object): string[] =>
  [...JSON.stringify(schema).matchAll(/"enum":(\[[^\]]*\])/g)]
    .flatMap(([, values]) => JSON.parse(values!) as (string | null)[])
    .filter((value) => value !== null)
    .toSorted();

/** Within a test's 30 s. */
const LIMIT_MS = 25_000;

/** Runs commands, which must succeed, and ends processes that they leave behind. Returns their output. */
export async function runCommands(
  commands: string,
  env: Record<string, string>,
  cwd?: string,
  limitMs = LIMIT_MS,
): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail'], {
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], ...env },
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // No process was left.
    }
  };
  const timer = setTimeout(end, limitMs);
  let text = '';
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  child.stdin.end(commands);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  end();
  expect(code, text).toBe(0);
  return text;
}
