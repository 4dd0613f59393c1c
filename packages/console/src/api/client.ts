/** The client of this page: the signed-in user's session on the page's own origin. */
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import { noticeDate } from './clock.ts';
import { directForm } from './direct-form.ts';
import { earlyFetch } from './early.ts';
import { uploadFetch } from './upload.ts';
import { addressIn, becomeOld, noticeVersion } from './version.ts';

/** Reads in a page have a person who waits: less than the client's two minutes. */
export const READ_TIMEOUT_MS = 30_000;

const watchers = new Set<() => void>();
const limits = new Set<(ms: number) => void>();

/** Calls `onUnauthorized` when the service no longer knows the session. Returns the end of the watch. */
export function watchSession(onUnauthorized: () => void): () => void {
  watchers.add(onUnauthorized);
  return () => watchers.delete(onUnauthorized);
}

let waiting: (() => void)[] = [];
let signIns = 0;

/** How often somebody has signed in again over this page. */
export const signInCount = (): number => signIns;

/** Ends when somebody has signed in again over this page since it was done this often: the answer 401 may be read late. */
export const untilSignedIn = (count: number): Promise<void> =>
  count === signIns ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();

export function noticeSignIn(): void {
  signIns++;
  for (const goOn of waiting) goOn();
  waiting = [];
}

/** Calls `onLimited` when the service asks to wait: the client waits by itself, and others should too. */
export function watchLimits(onLimited: (ms: number) => void): () => void {
  limits.add(onLimited);
  return () => limits.delete(onLimited);
}

/** Of sign-ins and the like, which have limits of their own. */
const AUTH = '/api/auth/';
const WAIT_SECONDS = 5;

/** Sign-in answers 401 itself for a wrong password. */
const SIGN_IN = '/api/auth/sign-in/email';

/** The client writes an app's paths; the pages are for projects, too. */
function inDirectForm(input: RequestInfo | URL): RequestInfo | URL {
  if (input instanceof Request) return input;
  const address = new URL(input, location.href);
  address.pathname = directForm(address.pathname);
  return address.href;
}

const watched =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const beganAt = performance.now();
    const response = await send(inDirectForm(input), init);
    noticeDate(response.headers.get('date'), beganAt);
    noticeVersion(response.headers.get('x-headrace-version'));
    const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
    if (response.status === 401 && !pathname.startsWith(SIGN_IN)) for (const watcher of watchers) watcher();
    if (response.status === 429 && !pathname.startsWith(AUTH)) {
      const ms = (Number(response.headers.get('retry-after')) || WAIT_SECONDS) * 1000;
      for (const limit of limits) limit(ms);
    }
    return response;
  };

export const client = createClient({
  session: true,
  fetch: watched(earlyFetch),
});

/** The same client for one upload, whose progress it tells in bytes. */
export const uploadClient = (onSent: (bytes: number) => void): Client =>
  createClient({ session: true, fetch: watched(uploadFetch(onSent)) });

/** A part that is loaded later has another name after an upgrade; but it may also be the connection that failed. */
async function onLostPart({ message }: Error): Promise<void> {
  try {
    // Its answer tells the service's version.
    await client.session.get({ timeoutMs: READ_TIMEOUT_MS });
    const address = addressIn(message);
    if (!address || (await fetch(address, { method: 'HEAD' })).status === 404) becomeOld();
  } catch {
    // No answer: nothing is known of a newer version.
  }
}

window.addEventListener('vite:preloadError', ({ payload }) => void onLostPart(payload));
