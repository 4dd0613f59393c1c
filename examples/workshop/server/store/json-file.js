import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';

/** The data of a file; null when there is none yet. A broken file is an error, never an empty library. */
export async function readData(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw new Error(`cannot read ${file}: ${error.message}`, { cause: error });
  }
}

/** Writes data so that a crash leaves the old file or the new one, never half of one. */
export async function writeData(file, data) {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w');
  try {
    await handle.writeFile(`${JSON.stringify(data, null, 1)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/**
 * Saves after changes, one write at a time. Changes that come while a write runs are
 * saved together by the next one.
 */
export function createSaver(file, dump, onError) {
  let running = null;
  let dirty = false;

  async function run() {
    while (dirty) {
      dirty = false;
      await writeData(file, dump());
    }
  }

  return {
    changed() {
      dirty = true;
      running ??= run().catch(onError).finally(() => {
        running = null;
      });
    },
    /** Resolves when everything that changed so far is on disk. */
    async settled() {
      while (running) await running;
    },
  };
}
