/**
 * Who a key or a session is, as of now: a cache over the accounts' tables, so that a request costs no
 * database round trip.
 *
 * An entry is dropped when `accounts` is notified for its organization or user: at once in the process that
 * changed it, as the message arrives in the others. A message may be lost, so no entry is used for longer
 * than MAX_AGE_MS: a change is in force everywhere within a second. That costs one look-up a second for
 * each key in use; a global version row would serialize all account changes.
 *
 * Sessions are looked up for each request: one that was switched to another organization by one process
 * would act in the former one at another for a moment. People's requests are few; what is kept of a session
 * only says that it is no stranger's.
 */
import type { Bus } from '../bus.ts';
import { within } from '../deadline.ts';
import type { Db } from '../db/database.ts';
import type { Principal } from '../http/principal.ts';
import { Strangers } from '../limits/strangers.ts';
import { loadKeys, loadSessions } from './load-access.ts';
import type { Loaded } from './load-access.ts';

const MAX_AGE_MS = 900;
/** A database that hangs counts as away. */
const LOOK_UP_MS = 3_000;
const MAX_ENTRIES = 50_000;

/** `key cred_…` or `session <hash in hex>`. */
export type AccessName = `key ${string}` | `session ${string}`;

const isKey = (name: AccessName) => name.startsWith('key ');

interface Entry extends Loaded {
  /** performance.now() from which the entry is looked up again. */
  freshUntil: number;
}

interface AccessCache {
  /** `address`: where the name comes from that this process may not know. */
  lookUp(name: AccessName, address?: string): Promise<Loaded | null>;
}

/** One cache per database pool, that is per service. */
const caches = new WeakMap<Db, AccessCache>();
/** By what a principal was let in: for looking again. */
const names = new WeakMap<Principal, AccessName>();

const concerns = (payload: string, who: { orgId: string; userId: string | null }) =>
  payload === '' || payload === who.orgId || payload === who.userId;

async function loadAll(db: Db, names: AccessName[]): Promise<Map<string, Loaded>> {
  const these = (kind: 'key ' | 'session ') =>
    names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
  const [keys, sessions] = [these('key '), these('session ')];
  const found = new Map<string, Loaded>();
  if (keys.length) for (const [id, loaded] of await loadKeys(db, keys)) found.set(`key ${id}`, loaded);
  if (sessions.length) {
    const hashes = sessions.map((hash) => Buffer.from(hash, 'hex'));
    for (const [hash, loaded] of await loadSessions(db, hashes)) found.set(`session ${hash}`, loaded);
  }
  return found;
}

export function accessCache(ctx: { db: Db; bus: Bus }): AccessCache {
  const known = caches.get(ctx.db);
  if (known) return known;
  const entries = new Map<AccessName, Entry>();
  const loading = new Map<AccessName, Promise<Loaded | null>>();
  const strangers = new Strangers((names) => loadAll(ctx.db, names as AccessName[]));

  ctx.bus.listen('accounts', (payload) => {
    for (const [name, entry] of entries) if (concerns(payload, entry)) entries.delete(name);
    // A look-up under way may have read the state before the change: its result is not kept, and nobody
    // else waits for it.
    loading.clear();
  });
  ctx.bus.onReconnect(() => {
    entries.clear();
    loading.clear();
  });

  function keep(name: AccessName, loaded: Loaded): void {
    entries.delete(name);
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value!);
    entries.set(name, { ...loaded, freshUntil: performance.now() + Math.min(MAX_AGE_MS, loaded.endsInMs) });
  }

  async function load(name: AccessName, address: string | undefined): Promise<Loaded | null> {
    const loaded =
      address === undefined || entries.has(name)
        ? ((await loadAll(ctx.db, [name])).get(name) ?? null)
        : await strangers.lookUp(name, address);
    if (loaded?.principal) names.set(loaded.principal, name);
    return loaded;
  }

  const cache: AccessCache = {
    async lookUp(name, address) {
      if (isKey(name)) {
        const entry = entries.get(name);
        if (entry && performance.now() < entry.freshUntil) return entry;
        const underWay = loading.get(name);
        if (underWay) return underWay;
      }
      const promise = within(LOOK_UP_MS, load(name, address));
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
  caches.set(ctx.db, cache);
  return cache;
}

/**
 * The caller of an open stream as of now, null when its access has ended: the key was revoked or has
 * expired, the account was disabled, the session signed out or acts in another organization. What is left
 * to compare: permissions, projectIds, platformApi.
 */
export async function recheck(ctx: { db: Db; bus: Bus }, principal: Principal): Promise<Principal | null> {
  const name = names.get(principal);
  const now = name && (await accessCache(ctx).lookUp(name));
  return now?.principal && now.verdict === 'admitted' && now.principal.orgId === principal.orgId
    ? now.principal
    : null;
}

/**
 * Calls `listener` when the access of `principal` may have changed: time to `recheck`. Messages can be
 * lost, so a stream also checks at its heartbeats. Returns the function that ends listening.
 */
export function onAccessChanged(
  ctx: { db: Db; bus: Bus },
  principal: Principal,
  listener: () => void,
): () => void {
  accessCache(ctx); // Listens before this listener does, so that recheck does not find what was before.
  return ctx.bus.listen('accounts', (payload) => {
    if (concerns(payload, principal)) listener();
  });
}
