/**
 * The service's secret keys: the current one seals and signs, former ones only open and verify what was sealed
 * and signed before a change.
 */
import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';

export interface SecretKeys {
  current: Buffer;
  /** The newest first. */
  former: readonly Buffer[];
}

type Where = Pick<Config, 'secretKey' | 'formerSecretKeys' | 'dataDir'>;

/** In the data folder, readable by the service alone. */
const FILE = 'secret.key';
/** One key a line, the newest first. */
const FORMER_FILE = 'secret.key.former';

/** The given keys, or the data folder's own, which are generated once. */
export async function readSecretKeys(config: Where): Promise<SecretKeys> {
  if (config.secretKey === null) await writeNewKey(config.dataDir);
  return existingSecretKeys(config);
}

/** The same, where the data folder has its key: throws what reading it throws. */
export async function existingSecretKeys({
  secretKey,
  formerSecretKeys,
  dataDir,
}: Where): Promise<SecretKeys> {
  const text = secretKey ?? (await readFile(join(dataDir, FILE), 'utf8'));
  const lines = secretKey === null ? await readLines(join(dataDir, FORMER_FILE)) : [];
  return {
    current: Buffer.from(text),
    former: [...formerSecretKeys, ...lines].map((key) => Buffer.from(key)),
  };
}

/** Writes the keys of a backup to a data folder that has none. */
export async function writeSecretKeys(folder: string, { current, former }: SecretKeys): Promise<void> {
  await writeFile(join(folder, FILE), current, { flag: 'wx', mode: 0o600 });
  if (former.length) await writeFile(join(folder, FORMER_FILE), linesOf(former), { flag: 'wx', mode: 0o600 });
}

/**
 * Gives the data folder a new key; the one that it had becomes a former one. The former keys are written
 * first: a key that was cut off from both files would be lost with all that it sealed.
 */
export async function replaceSecretKey(dataDir: string): Promise<void> {
  const { current, former } = await existingSecretKeys({ secretKey: null, formerSecretKeys: [], dataDir });
  const kept = [current, ...former.filter((key) => !key.equals(current))];
  await writeWhole(join(dataDir, FORMER_FILE), linesOf(kept));
  await writeWhole(join(dataDir, FILE), randomBytes(32).toString('hex'));
}

async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

async function writeNewKey(dataDir: string): Promise<void> {
  const file = join(dataDir, FILE);
  await writeFile(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  await chmod(file, 0o600);
}

const linesOf = (keys: readonly Buffer[]) => keys.map((key) => `${key.toString()}\n`).join('');

async function readLines(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').filter((line) => line !== '');
}
