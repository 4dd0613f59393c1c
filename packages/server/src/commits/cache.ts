/**
 * The cache of a repository: a bare repository of ours on this machine with the commits that threads begin
 * from and those that the service makes. Processes of one data folder share it.
 */
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { createBareRepository } from '../git/bare-repository.ts';
import { runGit } from '../git/run-git.ts';
import { every } from '../jobs/every.ts';
import type { OpenRepository } from '../scm/index.ts';
import { inTurn } from './turns.ts';

export interface Cache {
  dir: string;
  /** It sees all objects of a repository on this machine; nothing has to be fetched. */
  isLinked: boolean;
}

/** Objects of old histories are taken as they are: sources have rules of their own. */
const CONFIG = '[fetch]\n\tfsckObjects = false\n\tunpackLimit = 1\n[protocol]\n\tversion = 2\n';
/** A cache with more packs than this is collected. */
const MAX_PACKS = 32;
const COLLECT_MS = 600_000;
const EVERY_MS = 600_000;
/** How folders in a cache begin whose maker removes them, and when they count as left over. */
export const LEFT_OVER = 'tmp-';
const LEFT_OVER_MS = 3_600_000;

const folderOf = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'git-cache');
const alternatesOf = (dir: string) => join(dir, 'objects', 'info', 'alternates');

/** The repository's cache, made where it is missing. Throws ProviderError. */
export async function openCache(
  ctx: Pick<Context, 'config'>,
  { provider, at }: OpenRepository,
): Promise<Cache> {
  const dir = join(folderOf(ctx.config), `${at.repository.id}.git`);
  if (!existsSync(join(dir, 'HEAD'))) {
    const { folder } = await provider.gitTransport(at);
    await createBareRepository(dir, {
      defaultBranch: 'main',
      alternates: folder === null ? [] : [join(folder, 'objects')],
      config: CONFIG,
    });
  }
  return { dir, isLinked: existsSync(alternatesOf(dir)) };
}

/** The repository's cache where it was made: reading it needs no provider. */
export function findCache({ config }: Pick<Context, 'config'>, repositoryId: string): Cache | null {
  const dir = join(folderOf(config), `${repositoryId}.git`);
  return existsSync(join(dir, 'HEAD')) ? { dir, isLinked: existsSync(alternatesOf(dir)) } : null;
}

/** Keeps the caches small. Safe in every process at once. */
export function maintainCaches(ctx: Pick<Context, 'config' | 'db' | 'log' | 'shutdown'>): void {
  every(EVERY_MS, () => sweepCaches(ctx), {
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'caches of repositories were not looked through'),
  }).runNow();
}

/** Removes the caches of repositories that are deleted, and collects those that have many packs. */
export async function sweepCaches(ctx: Pick<Context, 'config' | 'db' | 'log'>): Promise<void> {
  const folder = folderOf(ctx.config);
  const names = await readdir(folder).catch(() => []);
  const ids = names.flatMap((name) => /^(repo_\w+)\.git$/.exec(name)?.[1] ?? []);
  if (ids.length === 0) return;
  const live = await ctx.db
    .selectFrom('repositories')
    .select('id')
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute();
  const isLive = new Set(live.map(({ id }) => id));
  for (const id of ids) {
    const dir = join(folder, `${id}.git`);
    try {
      if (isLive.has(id)) {
        await removeLeftOvers(dir);
        await collect(dir);
      } else await rm(dir, { recursive: true, force: true });
    } catch (error) {
      ctx.log.warn({ err: error, repository: id }, 'the cache of a repository could not be maintained');
    }
  }
}

/** Folders of work that was killed. */
async function removeLeftOvers(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    if (name.startsWith(LEFT_OVER) && Date.now() - (await stat(path)).mtimeMs > LEFT_OVER_MS)
      await rm(path, { recursive: true, force: true });
  }
}

/** Unreferenced objects stay for two weeks: a commit that is being made is referenced by nothing yet. */
async function collect(dir: string): Promise<void> {
  const packs = (await readdir(join(dir, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
  if (packs.length <= MAX_PACKS) return;
  await inTurn(dir, () =>
    runGit(dir, ['-c', 'pack.threads=1', 'gc', '--quiet', '--prune=2.weeks.ago'], {
      isAlone: true,
      limitMs: COLLECT_MS,
    }),
  );
}
