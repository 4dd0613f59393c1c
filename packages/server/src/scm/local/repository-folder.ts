/**
 * The bare repositories of the built-in provider. A folder follows from its row: it is made where it is
 * missing, and its HEAD is set to the row's default branch where it is another, so a process that died
 * between the row and the folder leaves nothing to repair.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { RepositoryRow } from '../../db/schema.ts';
import { createBareRepository } from '../../git/bare-repository.ts';
import { localFolder } from './folders.ts';

/**
 * What pushes and fetches are held to. Real histories have commits whose dates and modes git's own older
 * versions wrote; these do no harm. A blob of 32 MiB or more is neither kept in memory nor compared.
 */
const CONFIG = `[http]
\treceivepack = true
\tgetanyfile = false
[transfer]
\thideRefs = refs
\thideRefs = !refs/heads
\thideRefs = !refs/tags
[uploadpack]
\thideRefs = !refs/pull
\tallowFilter = true
[receive "fsck"]
\tbadTimezone = ignore
\tmissingSpaceBeforeDate = ignore
\tzeroPaddedFilemode = ignore
[core]
\tbigFileThreshold = 32m
`;

type Of = Pick<RepositoryRow, 'id' | 'default_branch'>;

/** The folder of a repository, which is there from then on. */
export async function openLocalFolder(config: Pick<Config, 'dataDir'>, repository: Of): Promise<string> {
  const dir = localFolder(config, repository.id);
  const head = `ref: refs/heads/${repository.default_branch}\n`;
  const found = await readFile(join(dir, 'HEAD'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (found === null)
    await createBareRepository(dir, { defaultBranch: repository.default_branch, config: CONFIG });
  else if (found !== head) await writeHead(dir, head);
  return dir;
}

/** As git does it, without its lock: the last one wins, and readers see the one or the other. */
async function writeHead(dir: string, head: string): Promise<void> {
  const written = join(dir, `HEAD.${randomUUID()}`);
  try {
    await writeFile(written, head);
    await rename(written, join(dir, 'HEAD'));
  } finally {
    await rm(written, { force: true });
  }
}

/** Removes the folder; one that is not there is removed already. */
export async function removeLocalFolder(
  config: Pick<Config, 'dataDir'>,
  repositoryId: string,
): Promise<void> {
  await rm(localFolder(config, repositoryId), { recursive: true, force: true });
}
