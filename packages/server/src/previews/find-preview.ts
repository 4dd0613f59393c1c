import type { Context } from '../context.ts';
import { effectiveSettings } from '../settings/index.ts';
import type { PreviewRow } from '../db/schema.ts';
import { Strangers } from '../limits/strangers.ts';
import { findByTokens } from './store.ts';

/** What the proxy knows of a preview. */
export type Shown = Pick<PreviewRow, 'id' | 'status' | 'runner_id'> & { frameAncestors: string[] | null };

const KEPT_MS = 1_000;
const MAX_KEPT = 1_000;

/**
 * Finds previews by their token. Keeps the answer, also that there is none, for a second; a change of any
 * preview clears all.
 */
export class PreviewFinder {
  readonly #ctx: Context;
  readonly #strangers = new Strangers((tokens) => this.#load(tokens));
  readonly #kept = new Map<string, { at: number; found: Promise<Shown | null> }>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    const forget = () => this.#kept.clear();
    ctx.bus.listen('control', (id) => {
      if (id.startsWith('prv_')) forget();
    });
    ctx.bus.onReconnect(forget);
  }

  /** `address`: where the visitor comes from. */
  find(token: string, address: string): Promise<Shown | null> {
    const known = this.#kept.get(token);
    if (known && Date.now() - known.at < KEPT_MS) return known.found;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const entry = { at: Date.now(), found: this.#strangers.lookUp(token, address) };
    this.#kept.set(token, entry);
    entry.found.catch(() => {
      if (this.#kept.get(token) === entry) this.#kept.delete(token);
    });
    return entry.found;
  }

  async #load(tokens: string[]): Promise<Map<string, Shown>> {
    const found = new Map<string, Shown>();
    for (const row of await findByTokens(this.#ctx.db, tokens)) {
      const { frameAncestors } = await effectiveSettings(this.#ctx.db, row);
      found.set(row.token, { id: row.id, status: row.status, runner_id: row.runner_id, frameAncestors });
    }
    return found;
  }
}
