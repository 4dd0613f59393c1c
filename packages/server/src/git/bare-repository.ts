import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';

/** What git reads of a repository before anything else: no hook runs, nothing is collected behind our back. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\thooksPath = /dev/null
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tautogc = false
\tfsckObjects = true
[transfer]
\tfsckObjects = true
`;

/**
 * Makes a bare repository with no commit, whose HEAD is `defaultBranch`; one that is there stays as it is.
 * `alternates`: folders of objects that it also sees. `config` is added to its configuration.
 */
export async function createBareRepository(
  dir: string,
  {
    defaultBranch,
    alternates = [],
    config = '',
  }: { defaultBranch: string; alternates?: string[]; config?: string },
): Promise<void> {
  if (existsSync(join(dir, 'HEAD'))) return;
  const making = `${dir}.${randomUUID()}`;
  await mkdir(dirname(dir), { recursive: true, mode: 0o700 });
  try {
    await mkdir(join(making, 'objects', 'info'), { recursive: true, mode: 0o700 });
    await mkdir(join(making, 'objects', 'pack'));
    await mkdir(join(making, 'refs', 'heads'), { recursive: true });
    await mkdir(join(making, 'info'));
    await writeFile(join(making, 'config'), CONFIG + config);
    // Attributes in a tree change no bytes.
    await writeFile(join(making, 'info', 'attributes'), '* -text -ident -filter !working-tree-encoding\n');
    if (alternates.length)
      await writeFile(
        join(making, 'objects', 'info', 'alternates'),
        alternates.map((one) => `${one}\n`).join(''),
      );
    await writeFile(join(making, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`);
    await rename(making, dir).catch((error: NodeJS.ErrnoException) => {
      // A rival was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}
