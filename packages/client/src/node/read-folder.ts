import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SetAppSkillInput } from '../generated/types.ts';
import { scanFolder } from './scan.ts';
import type { ScanOptions, Skipped } from './scan.ts';

export interface ReadFolder {
  /** As `skills.set` takes them. */
  files: SetAppSkillInput['files'];
  /** What a push skips, too; at most 1,000. */
  skipped: Skipped[];
}

/** The files that a push of this folder would send, in memory: for a skill. Throws as `plan`. */
export async function readFolder(
  folder: string,
  options: Pick<ScanOptions, 'signal'> = {},
): Promise<ReadFolder> {
  const { files, skipped } = await scanFolder(folder, options);
  const read = await Promise.all(
    files.map(async ({ path, executable }) => {
      const bytes = await readFile(join(folder, path));
      const encoding: 'utf8' | 'base64' = isUtf8(bytes) ? 'utf8' : 'base64';
      return { path, content: bytes.toString(encoding), encoding, executable };
    }),
  );
  return { files: read, skipped };
}
