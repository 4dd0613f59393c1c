import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RunnerError } from '../errors.ts';
import { gitLine } from './git.ts';
import type { HostBinding } from './protocol.ts';

/** A folder that the person has given, and what it is called. The service learns only the name. */
export interface Folder {
  name: string;
  /** Its real path. */
  path: string;
}

const NAME = /^[\p{L}\p{N}._ -]{1,100}$/u;

/** The folder that `NAME=FOLDER` gives. Throws an Error for a person. */
export function folderOf(text: string, cwd: string): Folder {
  const [, name = '', given = ''] = /^([^=]*)=(.+)$/s.exec(text) ?? [];
  if (!NAME.test(name)) throw new Error(`--bind ${text}: it has to be NAME=FOLDER.`);
  const path = given.startsWith('/') ? given : join(cwd, given);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`--bind ${name}: there is no folder ${path}.`);
  return { name, path: realpathSync(path) };
}

/**
 * Throws an Error for a person where git does not read the repository that is there: its files would otherwise be taken for
 * those of a plain folder, with what it ignores.
 */
export async function requireReadable({ name, path }: Folder): Promise<void> {
  if (!existsSync(join(path, '.git')) || (await gitLine(path, ['rev-parse', '--git-dir'])) !== undefined)
    return;
  throw new Error(`--bind ${name}: git cannot read the repository in ${path}. See: git -C ${path} status`);
}

/** What the folder is now, for the service. */
export async function describe({ name, path }: Folder): Promise<HostBinding> {
  const top = await gitLine(path, ['rev-parse', '--show-toplevel']);
  if (top === undefined || top !== path)
    return { name, workspaceModes: ['direct'], isGit: false, branch: null };
  const [head, branch] = await Promise.all([
    headOf(path),
    gitLine(path, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
  ]);
  return {
    name,
    workspaceModes: head === null ? ['direct'] : ['direct', 'worktree'],
    isGit: true,
    branch: branch ? branch.slice(0, 1024) : null,
  };
}

/** The commit that HEAD is; null without git, or without a commit. */
export async function headOf(path: string): Promise<string | null> {
  const head = await gitLine(path, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return head && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(head) ? head : null;
}

/** Throws `binding_not_found` 404. */
export function bindingNamed(folders: readonly Folder[], name: string): Folder {
  const folder = folders.find((one) => one.name === name);
  if (folder && statSync(folder.path, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new RunnerError(404, 'binding_not_found', 'This host has no such folder.');
}
