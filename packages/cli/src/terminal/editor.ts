/** Text in a person's editor. */
import { isUtf8 } from 'node:buffer';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';

/**
 * Opens $VISUAL, $EDITOR or vi with the text, in a file for its owner alone whose extension is that of `name`. Returns
 * what was saved, byte for byte; null if the editor failed: what it saved is kept then, and a message names the file.
 */
export async function editText(
  cli: Cli,
  { name, text }: { name: string; text: string },
): Promise<string | null> {
  if (!cli.canAsk) throw usage('An editor needs a terminal.');
  const { env } = cli.io;
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const folder = mkdtempSync(join(env.TMPDIR || tmpdir(), 'headrace-edit-'));
  const path = join(folder, fileNameOf(name));
  const drop = () => rmSync(folder, { recursive: true, force: true });
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    const failure = await run(cli, editor, path);
    if (!existsSync(path)) {
      drop();
      cli.say(`${editor}: ${failure ?? 'The file is gone.'}`);
      return null;
    }
    const saved = readFileSync(path);
    if (failure === null && isUtf8(saved)) {
      drop();
      return saved.toString();
    }
    cli.say(`${editor}: ${failure ?? 'The file is not UTF-8.'}`);
    if (saved.equals(Buffer.from(text))) drop();
    else cli.say(`What it saved is kept: ${path}`);
    return null;
  } catch (error) {
    drop();
    throw error;
  }
}

/** The last part of a stranger's path, without what an editor or a shell could take for more than a name. */
function fileNameOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1).replace(/[^\p{L}\p{N}._-]/gu, '_');
  const extension = extname(last).slice(0, 20);
  return `${last.slice(0, last.length - extname(last).length).slice(0, 40) || 'text'}${extension}`;
}

/** Null if it succeeded. The editor may have arguments, and quoted ones, so a shell reads it, as git does. */
function run(cli: Cli, editor: string, path: string): Promise<string | null> {
  const stopIgnoring = cli.onInterrupt(() => {
    // Ctrl-C reaches the editor, which decides what it means.
  });
  const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, path], {
    cwd: cli.io.cwd,
    env: { ...cli.io.env },
    // Where stdout is a file or a pipe, only data goes there.
    stdio: ['inherit', cli.io.stdout.isTTY ? 'inherit' : 2, 'inherit'],
  });
  return new Promise<string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(null);
      // It may have left the terminal without echo.
      if (cli.io.stdin === process.stdin) spawnSync('stty', ['sane'], { stdio: 'inherit' });
      resolve(signal ? `It was ended by ${signal}.` : `It failed with the exit code ${code}.`);
    });
  }).finally(stopIgnoring);
}
