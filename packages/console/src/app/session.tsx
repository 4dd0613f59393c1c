/** The session while pages are open: its live data, and signing in again over the page when it has ended. */
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { startLive } from '../live/index.ts';
import type { Live } from '../live/index.ts';
import { client, watchLimits, watchSession } from '../api/client.ts';
import { sessionQuery, useSession } from '../api/session.ts';

const SignInDialog = lazy(async () => ({
  default: (await import('../pages/account/sign-in-dialog.tsx')).SignInDialog,
}));

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
  const { user } = useSession();
  const queries = useQueryClient();
  const [isShown, setShown] = useState(signedOut);
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
    const session = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
    if (session?.user.id !== user.id) return location.assign('/console/');
    setSignedOut(false);
    void queries.refetchQueries({ type: 'active', predicate: (query) => query.state.status === 'error' });
  };
  return <Suspense>{isShown && <SignInDialog email={user.email} onDone={() => void goOn()} />}</Suspense>;
}
