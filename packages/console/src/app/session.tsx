/** The session while pages are open: its live data, and signing in again over the page when it has ended. */
import { HeadraceError } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, useEffect, useState } from 'react';
import { startLive } from '../live/index.ts';
import type { Live } from '../live/index.ts';
import { client, READ_TIMEOUT_MS, watchLimits, watchSession } from '../api/client.ts';
import { lineOf, writeFaultOf } from '../api/faults.ts';
import { sessionQuery, useSession } from '../api/session.ts';
import { notify } from '../ui/notices.tsx';
import { useOtherOrganization } from './organization.ts';
import { Part, usePreload } from './part.tsx';

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

/**
 * The live data of this user in this organization; another one starts from nothing. `isReady`: its place in the log is
 * known. What a page reads before that would be read twice.
 */
export function useLiveOfSession(
  userId: string,
  organizationId: string,
): { live: Live | null; isReady: boolean } {
  const queries = useQueryClient();
  const [live, setLive] = useState<Live | null>(null);
  const [isReady, setReady] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const again = () => {
      if (!signedOut) setRound((n) => n + 1);
    };
    listeners.add(again);
    return () => void listeners.delete(again);
  }, []);
  useEffect(() => {
    const started = startLive({
      client,
      queries,
      identity: { userId, organizationId },
      onSignedOut: () => setSignedOut(true),
    });
    setLive(started);
    void started.ready.then(() => setReady(true));
    const stopWatching = watchLimits((ms) => started.pause(ms));
    return () => {
      stopWatching();
      started.stop();
    };
  }, [queries, userId, organizationId, round]);
  return { live, isReady };
}

/** Over the page, so that nothing on it is lost. Another user gets a page of their own. */
export function SessionGate() {
  const { user, activeOrganizationId } = useSession();
  const queries = useQueryClient();
  const [isShown, setShown] = useState(signedOut);
  const { isOther, claim } = useOtherOrganization(user.id, activeOrganizationId);
  usePreload(loadSignIn);
  usePreload(loadOther);
  useEffect(() => {
    const follow = () => setShown(signedOut);
    listeners.add(follow);
    const stop = watchSession(() => setSignedOut(true));
    return () => {
      listeners.delete(follow);
      stop();
    };
  }, []);
  const goOn = async () => {
    const session = await sessionIn(user.id, activeOrganizationId);
    if (!session) return location.assign('/console/');
    queries.setQueryData(sessionQuery.queryKey, session);
    claim();
    setSignedOut(false);
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
