/** Small files of state and settings, written so that a reader never sees half of one. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Io } from '../core/io.ts';

/** Holds keys, so only its owner may read it. */
export const configFolder = ({ env }: Io): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'headrace');
/** Holds what can be lost without harm. */
export const stateFolder = ({ env }: Io): string =>
  join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'headrace');

/** Undefined if there is no such file. Throws for one that is not JSON. */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}. Correct it, or remove it.`, {
      cause: error,
    });
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Only its owner can read it; its folder is made, for the owner alone, if it is missing. */
export function writePrivateJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(part, 0o600);
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
