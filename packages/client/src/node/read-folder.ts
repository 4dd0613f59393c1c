import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SetAppSkillInput } from '../generated/types.ts';
import { BundleFaults } from '../files/bundle-rules.ts';
import { scanFolder } from './scan.ts';
import type { ScanOptions, Skipped } from './scan.ts';

export interface ReadFolder {
  /** As `skills.set` takes them. */
  files: SetAppSkillInput['files'];
  /** What a push skips, too; at most 1,000. */
  skipped: Skipped[];
}

/** Of a skill. */
const MAX_FILES = 200;
const MAX_MEBI = 4;

/**
 * The files that a push of this folder would send, in memory: for a skill. Throws as `plan`, also where they are
 * more than a skill holds.
 */
export async function readFolder(
  folder: string,
  options: Pick<ScanOptions, 'signal'> = {},
): Promise<ReadFolder> {
  const { files, skipped, byteSize } = await scanFolder(folder, options);
  const faults = new BundleFaults();
  if (files.length > MAX_FILES) faults.all(`A skill holds at most ${MAX_FILES} files.`);
  if (byteSize > MAX_MEBI * 1024 * 1024) faults.all(`A skill holds at most ${MAX_MEBI} MiB in all.`);
  faults.throwIfAny();
  const read: ReadFolder['files'] = [];
  for (const { path, executable } of files) {
    const bytes = await readFile(join(folder, path));
    const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
    read.push({ path, content: bytes.toString(encoding), encoding, executable });
  }
  return { files: read, skipped };
}
