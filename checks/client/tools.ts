/**
 * Tools that only these checks need, from the npm registry: installed once from tools/package-lock.json into
 * HEADRACE_CLIENT_TOOLS_DIR (default: a folder in the system's temporary folder; about 950 MB, kept between runs).
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findProgram } from '../harness/programs.ts';

const HERE = join(import.meta.dirname, 'tools');
const LOCK = join(HERE, 'package-lock.json');
const FOLDER = process.env['HEADRACE_CLIENT_TOOLS_DIR'] ?? join(tmpdir(), 'headrace-client-tools');
const INSTALL_MS = 10 * 60_000;

/** What cannot be tested on this machine, and why. */
export class NotTested extends Error {}

/** Where they are installed; null if they are not. */
export const toolsFolder = (): string | null => (existsSync(join(FOLDER, '.installed')) ? FOLDER : null);

/** Installs what is missing. Throws if the registry is unreachable. */
export function installTools(say: (line: string) => void): void {
  const mark = join(FOLDER, '.installed');
  const lock = readFileSync(LOCK, 'utf8');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  say(`Installing the tools in ${FOLDER}`);
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(HERE, name), join(FOLDER, name));
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    // The machine's own Node may be too old for this npm's rules about optional packages.
    env: { ...process.env, PATH: `${join(process.execPath, '..')}${delimiter}${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: INSTALL_MS,
  });
  if (status !== 0) throw new Error(`The tools cannot be installed:\n${stderr.slice(-1000)}`);
  writeFileSync(mark, lock);
}

/** A file of an installed package. Throws NotTested if it is missing, as on another platform. */
export function tool(...path: string[]): string {
  const file = join(FOLDER, 'node_modules', ...path);
  if (!existsSync(file)) throw new NotTested(`${path[0]} is not for this platform`);
  return file;
}

/** The first of these programs that the machine has; npm also puts the programs of packages into PATH. */
export function program(names: readonly string[], install: string): string {
  const file = findProgram(names);
  if (file === null) throw new NotTested(`not installed: ${install}`);
  return file;
}
