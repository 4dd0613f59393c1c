/**
 * Copies a repository that is pushed to and packed meanwhile: its references first, then every file of objects, again
 * until there is none that is new. So the copy has all that its references name, and objects of no branch, too.
 */
import { copyFile, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryRow } from '../../db/schema.ts';
import { runGit } from '../../git/run-git.ts';
import { localFolder } from './folders.ts';
import { openLocalFolder } from './repository-folder.ts';

/** Each round copies what was packed during the one before. */
const MAX_ROUNDS = 20;
const CHECK_MS = 20 * 60_000;
/** Codes of git fsck. */
const DAMAGE = [0, 1, 2, 3, 4, 5, 6, 7];
const LOOSE = /^[0-9a-f]{2}$/;

type Place = Readonly<{ dataDir: string }>;

/** Throws where the copy does not have all that its references name: the repository is damaged. */
export async function copyRepository(
  from: Place,
  to: Place,
  repository: Pick<RepositoryRow, 'id' | 'default_branch'>,
): Promise<void> {
  const source = localFolder(from, repository.id);
  const { output: references } = await runGit(source, ['for-each-ref', '--format=%(objectname) %(refname)']);
  const target = await openLocalFolder(to, repository);
  const copied = new Set<string>();
  for (let round = 1; await copyNewObjects(source, target, copied); round++)
    if (round === MAX_ROUNDS) throw new Error(`${source} does not rest: it was packed ${MAX_ROUNDS} times`);
  await writeFile(
    join(target, 'packed-refs'),
    `# pack-refs with: sorted \n${references.toString('latin1')}`,
    {
      encoding: 'latin1',
      flush: true,
    },
  );
  await checkRepository(target);
}

/** Throws where an object is missing that a reference needs. */
async function checkRepository(dir: string): Promise<void> {
  const { code, output, stderr } = await runGit(
    dir,
    ['fsck', '--connectivity-only', '--no-dangling', '--no-progress'],
    { limitMs: CHECK_MS, isBackground: true, codes: DAMAGE },
  );
  if (code !== 0) throw new Error(`git fsck: ${output.toString('utf8').split('\n')[0] || stderr.trim()}`);
}

/** Returns whether there was one that is not copied yet. */
async function copyNewObjects(source: string, target: string, copied: Set<string>): Promise<boolean> {
  let isNew = false;
  for (const file of await objectFiles(source)) {
    if (copied.has(file)) continue;
    if (await copyDurably(join(source, file), join(target, file))) copied.add(file);
    isNew = true;
  }
  return isNew;
}

/** Loose ones first: they go into packs, which are there before they go. A pack comes before its index. */
async function objectFiles(dir: string): Promise<string[]> {
  const objects = join(dir, 'objects');
  const files: string[] = [];
  for (const name of (await readdir(objects)).filter((one) => LOOSE.test(one)))
    for (const object of await namesIn(join(objects, name)))
      if (!object.startsWith('tmp_')) files.push(join('objects', name, object));
  const packs = (await readdir(join(objects, 'pack'))).filter((name) =>
    /^pack-[0-9a-f]+\.(pack|idx)$/.test(name),
  );
  return [
    ...files,
    ...packs
      .sort()
      .reverse()
      .map((name) => join('objects', 'pack', name)),
  ];
}

/** None where the folder has gone: git removes one whose objects are all in packs. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** False when the file has gone: what it had is in another. */
async function copyDurably(from: string, to: string): Promise<boolean> {
  await mkdir(join(to, '..'), { recursive: true, mode: 0o700 });
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const file = await open(to, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}
