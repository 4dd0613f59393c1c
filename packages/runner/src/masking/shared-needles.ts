/**
 * The needles of a list of secrets, shared by all who mask the same: the tasks of an app have the same secrets,
 * and 64 KiB of them take tens of milliseconds and megabytes.
 */
import { createHash } from 'node:crypto';
import { formsOf } from './forms.ts';
import { Needles } from './needles.ts';

/** By the hash of the secrets; without an entry once nobody uses the needles. */
const shared = new Map<string, WeakRef<Needles>>();
const gone = new FinalizationRegistry<string>((key) => {
  if (!shared.get(key)?.deref()) shared.delete(key);
});

/** Needles of all forms of the secrets; null: none is long enough. */
export function needlesOf(secrets: readonly string[]): Needles | null {
  const sorted = [...new Set(secrets)].sort();
  const key = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  const known = shared.get(key)?.deref();
  if (known) return known;
  const forms = formsOf(sorted);
  if (forms.length === 0) return null;
  const needles = new Needles(forms);
  shared.set(key, new WeakRef(needles));
  gone.register(needles, key);
  return needles;
}
