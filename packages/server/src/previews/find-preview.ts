import type { Context } from '../context.ts';
import { effectiveSettings } from '../settings/index.ts';
import type { PreviewRow } from '../db/schema.ts';
import { findByToken } from './store.ts';

/** What the proxy knows of a preview. */
export type Shown = Pick<PreviewRow, 'id' | 'status'> & { frameAncestors: string[] | null };

const KEPT_MS = 1_000;
const MAX_KEPT = 1_000;

/**
 * Finds previews by their token. Keeps the answer, also that there is none, for a second; a change of any
 * preview clears all.
 */
export class PreviewFinder {
  readonly #ctx: Context;
  readonly #kept = new Map<string, { at: number; found: Promise<Shown | undefined> }>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    const forget = () => this.#kept.clear();
    ctx.bus.listen('control', (id) => {
      if (id.startsWith('prv_')) forget();
    });
    ctx.bus.onReconnect(forget);
  }

  find(token: string): Promise<Shown | undefined> {
    const known = this.#kept.get(token);
    if (known && Date.now() - known.at < KEPT_MS) return known.found;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const entry = { at: Date.now(), found: this.#load(token) };
    this.#kept.set(token, entry);
    entry.found.catch(() => {
      if (this.#kept.get(token) === entry) this.#kept.delete(token);
    });
    return entry.found;
  }

  async #load(token: string): Promise<Shown | undefined> {
    const row = await findByToken(this.#ctx.db, token);
    if (!row) return undefined;
    const { frameAncestors } = await effectiveSettings(this.#ctx.db, row);
    return { id: row.id, status: row.status, frameAncestors };
  }
}
