import type { Context } from '../context.ts';

/** Makes the runner drop its files of projects that are deleted, or unknown to this database. */
export async function forgetDeletedProjects(ctx: Context): Promise<void> {
  const groups = await ctx.runner.groups();
  if (groups.length === 0) return;
  const living = await ctx.db
    .selectFrom('projects')
    .select('id')
    .where('id', 'in', groups)
    .where('deleted_at', 'is', null)
    .execute();
  const known = new Set(living.map(({ id }) => id));
  for (const group of groups) if (!known.has(group)) await ctx.runner.forgetGroup(group);
}
