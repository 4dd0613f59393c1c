import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { databaseNow } from '../../clock.ts';
import type { Context } from '../../context.ts';
import { localFolder } from './folders.ts';
import { removeRubbish } from './maintain-repository.ts';
import { removeLocalFolder } from './repository-folder.ts';

type Cleaning = Pick<Context, 'db' | 'config' | 'clock' | 'shutdown'>;

/**
 * Removes the folders of repositories that were deleted before the grace; in the others, what killed processes
 * left. One that no row names stays: another database may name it.
 */
export async function cleanUpLocalFolders(ctx: Cleaning): Promise<void> {
  const folder = join(ctx.config.dataDir, 'repositories');
  const names = await readdir(folder).catch(() => []);
  const ids = names.filter((name) => name.endsWith('.git')).map((name) => name.slice(0, -'.git'.length));
  if (!ids.length) return;
  const { rows } = await sql<{ id: string; due: boolean }>`
    select r.id, coalesce(least(r.deleted_at, o.deleted_at) <= ${databaseNow(ctx)} - ${ctx.config.cleanupGraceSeconds}::int * interval '1 second', false) as due
    from repositories r join organizations o on o.id = r.org_id where r.id = any(${ids}::text[])`.execute(
    ctx.db,
  );
  const isDue = new Map(rows.map(({ id, due }) => [id, due]));
  for (const id of ids) {
    if (ctx.shutdown.aborted) return;
    if (isDue.get(id)) await removeLocalFolder(ctx.config, id);
    else await removeRubbish(localFolder(ctx.config, id));
  }
}
