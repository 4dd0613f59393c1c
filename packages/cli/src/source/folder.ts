/** The folder that a command works with, and which source of the app it holds. */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readJsonFile, stateFolder, writePrivateJson } from '../config/files.ts';
import { LINK_FILE } from '../config/link.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';

/** The named folder, else the one that is linked to the app, else the working folder. */
export function folderOf({ io: { cwd }, target }: Cli, dir: string | undefined): string {
  if (dir !== undefined) return resolve(cwd, dir);
  const { appFrom } = target;
  return appFrom !== undefined && basename(appFrom) === LINK_FILE ? dirname(appFrom) : cwd;
}

/** What is there: throws the Fault for anything but a folder, or for nothing. */
export function requireFolder(folder: string, command = 'push'): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) throw usage(`There is no folder ${folder}.`);
  if (!found.isDirectory())
    throw usage(
      `${folder} is a file. Name the folder that holds it.`,
      `headrace ${command} ${dirname(folder)}`,
    );
}

/** An error of the file system, or any other, as it is thrown on. */
export function folderFault(error: unknown, folder: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const isFileSystem = error instanceof Error && 'syscall' in error && code !== undefined;
  return isFileSystem ? new Fault(EXIT.failed, `${folder}: ${message}`, { code: 'file_system' }) : error;
}

/**
 * What a folder holds since its last push or pull. It is kept outside of the folder: there is nothing to ignore, and a
 * copy of the folder claims nothing.
 */
export interface Held {
  sourceId: string;
  /** The head that the folder is based on: a later one has changes that the folder lacks. */
  headSourceId: string | null;
}

export function heldBy(cli: Cli, appId: string, folder: string): Held | undefined {
  try {
    const held = readJsonFile(pathOf(cli, appId, folder)) as Partial<Held> | undefined;
    if (typeof held?.sourceId !== 'string') return undefined;
    return { sourceId: held.sourceId, headSourceId: held.headSourceId ?? null };
  } catch {
    // What cannot be read is as good as lost: more is compared, and pull keeps more files.
    return undefined;
  }
}

/** The work is done by now: a failure is said, and ends nothing. */
export function hold(cli: Cli, { appId, folder }: { appId: string; folder: string }, held: Held): void {
  try {
    writePrivateJson(pathOf(cli, appId, folder), { ...held, folder });
    cli.remember(`source ${appId}`, held.sourceId);
  } catch (error) {
    cli.say(
      `Which source the folder holds could not be noted, so the next pull takes all its files as changed: ${(error as Error).message}`,
    );
  }
}

function pathOf({ io, target: { url } }: Cli, appId: string, folder: string): string {
  const place = JSON.stringify([url, appId, realpathSync(folder)]);
  const name = createHash('sha256').update(place).digest('hex').slice(0, 32);
  return join(stateFolder(io), 'folders', `${name}.json`);
}
