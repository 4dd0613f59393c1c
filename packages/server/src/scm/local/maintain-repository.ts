/**
 * Keeps a repository quick: many small packs, loose objects and loose references become few. No object is ever
 * dropped, reachable or not: commits that threads and pull requests name may be on no branch any more.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../../git/run-git.ts';

const MAX_PACKS = 20;
/** git's own gc begins there, too; counted in one of 256 folders. */
const MAX_LOOSE = 6_700 / 256;
/** 10,000 of them take 0.4 s to list where packed ones take 0.05 s. */
const MAX_LOOSE_REFERENCES = 500;
const LIMIT_MS = 20 * 60_000;
/** No push takes as long. */
const RUBBISH_MS = 3_600_000;

const namesIn = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);

/** Whether there is something to do. */
export async function needsMaintenance(dir: string): Promise<boolean> {
  const packs = (await namesIn(join(dir, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
  if (packs.length > MAX_PACKS) return true;
  if ((await namesIn(join(dir, 'objects', '17'))).length > MAX_LOOSE) return true;
  const loose = await readdir(join(dir, 'refs'), { recursive: true, withFileTypes: true });
  return loose.filter((entry) => entry.isFile()).length > MAX_LOOSE_REFERENCES;
}

/**
 * Packs what is loose and joins small packs, of which each is at least twice the next: the work grows with what
 * is new. It runs beside fetches and pushes, with one thread.
 */
export async function maintainRepository(dir: string, signal: AbortSignal): Promise<void> {
  const options = { signal, limitMs: LIMIT_MS, isBackground: true };
  await removeRubbish(dir);
  await runGit(dir, ['pack-refs', '--all'], options);
  await runGit(
    dir,
    ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=128m', 'repack', '-q', '-d', '-l', '--geometric=2'],
    options,
  );
}

/** What a killed git left: objects of a push that never came whole, packs that were never finished. */
export async function removeRubbish(dir: string): Promise<void> {
  const objects = join(dir, 'objects');
  const found = [
    ...(await namesIn(objects))
      .filter((name) => name.startsWith('tmp_objdir-'))
      .map((name) => join(objects, name)),
    ...(await namesIn(join(objects, 'pack')))
      .filter((name) => /^\.?tmp[_-]/.test(name))
      .map((name) => join(objects, 'pack', name)),
  ];
  for (const path of found) {
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < Date.now() - RUBBISH_MS) await rm(path, { recursive: true, force: true });
  }
}
