/**
 * Who a key or a session is, as of now: a cache over the accounts' tables, so that a request costs no database round trip.
 *
 * An entry is dropped when `accounts` is notified for its organization or user: at once in the process that changed it, as the message
 * arrives in the others. A message may be lost, so no entry is used for longer than MAX_AGE_MS: a change is in force everywhere within a
 * second. That costs one look-up a second for each key in use; a global version row would serialize all account changes.
 */
import type { Bus } from '../bus.ts';
import type { Db } from '../db/database.ts';
import { loadKey, loadSession } from './load-access.ts';
import type { Loaded } from './load-access.ts';

const MAX_AGE_MS = 900;
const MAX_ENTRIES = 50_000;

/** `key cred_…` or `session <hash in hex>`. */
export type AccessName = `key ${string}` | `session ${string}`;

interface Entry extends Loaded {
  /** performance.now() from which the entry is looked up again. */
  freshUntil: number;
}

interface AccessCache {
  lookUp(name: AccessName): Promise<Loaded | null>;
}

const concerns = (payload: string, who: { orgId: string; userId: string | null }) => payload === '' || payload === who.orgId || payload === who.userId;

export function createAccessCache(ctx: { db: Db; bus: Bus }): AccessCache {
  const entries = new Map<AccessName, Entry>();
  const loading = new Map<AccessName, Promise<Loaded | null>>();

  ctx.bus.listen('accounts', (payload) => {
    for (const [name, entry] of entries) if (concerns(payload, entry)) entries.delete(name);
    // A look-up under way may have read the state before the change: its result is not kept, and nobody else waits for it.
    loading.clear();
  });
  ctx.bus.onReconnect(() => { entries.clear(); loading.clear(); });

  function keep(name: AccessName, loaded: Loaded): void {
    entries.delete(name);
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value!);
    entries.set(name, { ...loaded, freshUntil: performance.now() + Math.min(MAX_AGE_MS, loaded.endsInMs) });
  }

  const load = (name: AccessName) => (name.startsWith('key ') ? loadKey(ctx.db, name.slice('key '.length)) : loadSession(ctx.db, Buffer.from(name.slice('session '.length), 'hex')));

  return {
    async lookUp(name) {
      const entry = entries.get(name);
      if (entry && performance.now() < entry.freshUntil) return entry;
      const underWay = loading.get(name);
      if (underWay) return underWay;
      const promise = load(name);
      loading.set(name, promise);
      try {
        const loaded = await promise;
        if (loaded && loading.get(name) === promise) keep(name, loaded);
        return loaded;
      } finally {
        if (loading.get(name) === promise) loading.delete(name);
      }
    },
  };
}
