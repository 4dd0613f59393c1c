/** The session while pages are open: its live data, and signing in again over the page when it has ended. */
import { HeadraceError } from '@headrace/client';
import { lazy, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { startLive } from '../live/index.ts';
import type { LaneName, Live } from '../live/index.ts';
import { client, noticeSignIn, READ_TIMEOUT_MS, watchLimits, watchSession } from '../api/client.ts';
import { lineOf, writeFaultOf } from '../api/faults.ts';
import { sessionQuery, useSession } from '../api/session.ts';
import type { SessionInfo } from '../api/session.ts';
import { notify } from '../ui/notices.tsx';
import { leaveTo } from './leave.ts';
import { useOtherOrganization } from './organization.ts';
import { Part, usePreload } from './part.tsx';
import { queries } from './queries.ts';

const loadSignIn = () => import('../pages/account/sign-in-dialog.tsx');
const loadOther = () => import('./other-organization.tsx');
const SignInDialog = lazy(async () => ({ default: (await loadSignIn()).SignInDialog }));
const OtherOrganization = lazy(async () => ({ default: (await loadOther()).OtherOrganization }));

let signedOut = false;
const listeners = new Set<() => void>();

function setSignedOut(value: boolean): void {
  if (signedOut === value) return;
  signedOut = value;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Whether the session has ended, and the page asks to sign in again. */
export const useSignedOut = (): boolean => useSyncExternalStore(subscribe, () => signedOut);

/** Whether a dialog may open: what comes late would lie over the sign-in. What is open stays. */
export function useMayOpen(): boolean {
  const isSignedOut = useSignedOut();
  const [mayOpen, setMayOpen] = useState(!isSignedOut);
  if (!mayOpen && !isSignedOut) setMayOpen(true);
  return mayOpen;
}

/** `isReady`: its place in the log is known. What a page reads before that would be read twice. */
interface Begun {
  identity: string;
  live: Live;
  ready: Promise<void>;
  isReady: boolean;
  end(): void;
}

let begun: Begun | null = null;

/**
 * The live data of this user in this organization, begun as soon as both are known: its place in the log then arrives
 * while the page is rendered for the first time.
 */
export function beginLive({ user, activeOrganizationId, entitlements }: NonNullable<SessionInfo>): Begun {
  const [userId, organizationId] = [user.id, activeOrganizationId ?? ''];
  const lanes: LaneName[] = entitlements.platformApi ? ['apps', 'direct'] : ['direct'];
  const identity = [userId, organizationId, ...lanes].join(' ');
  if (begun?.identity === identity) return begun;
  begun?.end();
  const live = startLive({
    client,
    queries,
    identity: { userId, organizationId },
    lanes,
    onSignedOut: () => setSignedOut(true),
    // It says what the organization may use now, and with that which feeds are read.
    onForbidden: () => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  // Also before the page is shown: what it reads may be on its way already.
  const stops = [watchLimits((ms) => live.pause(ms)), watchSession(() => setSignedOut(true))];
  const one: Begun = {
    identity,
    live,
    ready: live.ready.then(() => void (one.isReady = true)),
    isReady: false,
    end() {
      for (const stop of stops) stop();
      live.stop();
      if (begun === one) begun = null;
    },
  };
  return (begun = one);
}

/** Runs it once the place in the log is known; never while nobody is signed in, nor for a session that has ended. */
export function whenReady(run: () => void): void {
  const one = begun;
  const runIfHere = () => {
    if (begun === one && !signedOut) run();
  };
  if (one?.isReady) runIfHere();
  else void one?.ready.then(runIfHere);
}

/** The live data while the page is shown; another user or organization starts from nothing. */
export function useLiveOfSession(): { live: Live; isReady: boolean } {
  const session = useSession();
  const { user, activeOrganizationId, entitlements } = session;
  const latest = useRef(session);
  useEffect(() => {
    latest.current = session;
  });
  const [live, setLive] = useState(() => beginLive(session).live);
  const [isReady, setReady] = useState(() => beginLive(session).isReady);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const again = () => {
      if (!signedOut) setRound((n) => n + 1);
    };
    listeners.add(again);
    return () => void listeners.delete(again);
  }, []);
  useEffect(() => {
    const one = beginLive(latest.current);
    setLive(one.live);
    void one.ready.then(() => setReady(true));
    return () => one.end();
  }, [user.id, activeOrganizationId, entitlements.platformApi, round]);
  return { live, isReady };
}

/** Over the page, so that nothing on it is lost. Another user gets a page of their own. */
export function SessionGate() {
  const { user, activeOrganizationId } = useSession();
  const isShown = useSignedOut();
  const { isOther, claim } = useOtherOrganization(user.id, activeOrganizationId);
  usePreload(loadSignIn);
  usePreload(loadOther);
  const goOn = async () => {
    const session = await sessionIn(user.id, activeOrganizationId);
    if (!session) return leaveTo('/console/');
    queries.setQueryData(sessionQuery.queryKey, session);
    claim();
    setSignedOut(false);
    noticeSignIn();
    void queries.refetchQueries({ type: 'active', predicate: (query) => query.state.status === 'error' });
  };
  const sayFault = (error: unknown) => notify(lineOf(writeFaultOf(error)), 'fail');
  return (
    <Part isOver>
      {isShown && <SignInDialog email={user.email} onDone={() => void goOn().catch(sayFault)} />}
      {!isShown && isOther && <OtherOrganization />}
    </Part>
  );
}

/** The new session, in the organization of the page: it begins in the user's first. Null if it cannot be there. */
async function sessionIn(userId: string, organizationId: string | null) {
  const session = await client.session.get({ timeoutMs: READ_TIMEOUT_MS });
  if (session.user.id !== userId) return null;
  if (organizationId === null || session.activeOrganizationId === organizationId) return session;
  try {
    return await client.session.switchOrganization({ organizationId });
  } catch (error) {
    if (error instanceof HeadraceError && error.status >= 400 && error.status < 500 && !error.retryable)
      return null;
    throw error;
  }
}
