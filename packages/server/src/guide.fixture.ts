/** Runs commands of the guides unchanged. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Programs that guides use and the README asks to install. The service needs none of them. */
export const missing = ['curl', 'jq', 'uuidgen'].filter((command) => spawnSync(command, ['--version']).error);
/** For the name of a test that they are missing for. */
export const hint = missing.length > 0 ? ` (install ${missing.join(', ')} to run this)` : '';

/** The blocks of commands in a guide. */
export const commandsOf = (guide: string): string[] =>
  [
    ...readFileSync(join(import.meta.dirname, '../../../docs/guides', guide), 'utf8').matchAll(
      /^```sh\n([\s\S]*?)^```$/gm,
    ),
  ].map(([, code]) => code!);

/** What commands print, once they have succeeded. */
export async function runCommands(
  commands: string,
  env: Record<string, string>,
  cwd?: string,
): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail'], {
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], ...env },
    timeout: 60_000,
  });
  let text = '';
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  child.stdin.end(commands);
  const [code] = await once(child, 'close');
  expect(code, text).toBe(0);
  return text;
}
