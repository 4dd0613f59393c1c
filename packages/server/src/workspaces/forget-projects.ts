import type { Context } from '../context.ts';

const EVERY_MS = 30_000;

/**
 * Has the runner give up what it keeps of projects that were deleted, or that this database does not know:
 * it looks at most every 30 s.
 */
export function forgetsProjects(ctx: Context): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - lookedAt < EVERY_MS) return;
    lookedAt = performance.now();
    await forgetDeletedProjects(ctx);
  };
}

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
