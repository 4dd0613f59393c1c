import type { Context } from '../context.ts';
import { effectiveSettings } from '../settings/index.ts';
import type { PreviewRow } from '../db/schema.ts';

export type Shown = Pick<PreviewRow, 'id' | 'status'> & { frameAncestors: string[] | null };

const KEPT_MS = 1_000;
const MAX_KEPT = 1_000;

/**
 * Finds previews by their token; what was found (or not) is kept for a second, and forgotten at once where
 * a preview changes.
 */
export function previewFinder(ctx: Context): (token: string) => Promise<Shown | undefined> {
  const kept = new Map<string, { at: number; found: Promise<Shown | undefined> }>();
  const forget = () => kept.clear();
  ctx.bus.listen('control', (id) => {
    if (id.startsWith('prv_')) forget();
  });
  ctx.bus.onReconnect(forget);

  async function find(token: string): Promise<Shown | undefined> {
    const row = await ctx.db
      .selectFrom('previews')
      .select(['id', 'status', 'project_id'])
      .where('token', '=', token)
      .executeTakeFirst();
    return (
      row && {
        id: row.id,
        status: row.status,
        frameAncestors: (await effectiveSettings(ctx.db, row)).frameAncestors,
      }
    );
  }

  return (token) => {
    const known = kept.get(token);
    if (known && Date.now() - known.at < KEPT_MS) return known.found;
    if (kept.size >= MAX_KEPT) forget();
    const entry = { at: Date.now(), found: find(token) };
    kept.set(token, entry);
    entry.found.catch(() => {
      if (kept.get(token) === entry) kept.delete(token);
    });
    return entry.found;
  };
}
