import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Text by path; undefined: no such file. */
export type Tree = Record<string, string>;

/** What git itself says of two trees: one patch for each file, in git's order. */
export function gitPatches(before: Tree, after: Tree, modes: string[] = []): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'console-diff-'));
  try {
    write(join(folder, 'a'), before);
    write(join(folder, 'b'), after);
    for (const path of modes) execFileSync('chmod', ['755', join(folder, 'b', path)]);
    return split(diff(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function diff(folder: string): string {
  const args = ['diff', '--no-index', '--no-color', '--find-renames', 'a', 'b'];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  try {
    return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    // 1: there are differences.
    return (error as { stdout: string }).stdout;
  }
}

function write(folder: string, tree: Tree): void {
  mkdirSync(folder);
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function split(text: string): string[] {
  return text === '' ? [] : text.split(/^(?=diff --git )/m);
}
