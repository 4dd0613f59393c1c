/**
 * Keys of writes that have no answer yet, in this tab's storage: repeated after a reload, a write with the same
 * content has the same key, so it is not done twice.
 */

import { serviceNow } from './clock.ts';
import { sha256 } from './sha256.ts';

const PREFIX = 'headrace:write:';
/** Since the last attempt: a repetition comes soon, and the same content later is another write. */
const LIFE_MS = 2 * 60_000;

interface Pending {
  key: string;
  at: number;
}

/** The key of a new write. `crypto.randomUUID` is missing where the page came without TLS. */
export const newKey = (): string => `console-${hex(crypto.getRandomValues(new Uint8Array(16)))}`;

/** `intent` names the write: method, path and content. */
export async function keyOf(intent: string): Promise<string> {
  const name = PREFIX + (await digest(intent));
  const kept = read(name);
  if (kept && serviceNow() - kept.at < LIFE_MS) return kept.key;
  const key = newKey();
  try {
    sessionStorage.setItem(name, JSON.stringify({ key, at: serviceNow() } satisfies Pending));
  } catch {
    // Without storage, a reload amid a write may repeat it. The write itself is worth more.
  }
  return key;
}

/** An attempt has ended without an answer: the next one soon is the same write. */
export async function extend(intent: string): Promise<void> {
  const name = PREFIX + (await digest(intent));
  const kept = read(name);
  if (!kept) return;
  try {
    sessionStorage.setItem(name, JSON.stringify({ key: kept.key, at: serviceNow() } satisfies Pending));
  } catch {
    // As above.
  }
}

/** The write has its answer: the next one with this content is another write. */
export async function settle(intent: string): Promise<void> {
  try {
    sessionStorage.removeItem(PREFIX + (await digest(intent)));
  } catch {
    // As above.
  }
}

function read(name: string): Pending | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') as Pending | null;
  } catch {
    return null;
  }
}

async function digest(text: string): Promise<string> {
  // A page that came without TLS has no `crypto.subtle`.
  if (!(globalThis.crypto as { subtle?: SubtleCrypto }).subtle) return sha256(text).slice(0, 32);
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return hex(new Uint8Array(hash).subarray(0, 16));
}

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
