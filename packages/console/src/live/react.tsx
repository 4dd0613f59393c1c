/** The live store in components. Without one (signed out), all is still: no drafts, no events. */
import type { Draft, HeadraceEvent } from '@headrace/client';
import { createContext, useCallback, useContext, useEffect, useRef, useSyncExternalStore } from 'react';
import type { JSX, ReactNode } from 'react';
import type { Live } from './session.ts';
import type { LiveStatus } from './state.ts';

const LiveContext = createContext<Live | null>(null);

const NONE: LiveStatus = {
  state: 'connecting',
  dataAt: null,
  reason: null,
  gapAt: null,
  nextAttemptAt: null,
};

/** Gives the store to the components inside. */
export function LiveProvider({ live, children }: { live: Live | null; children: ReactNode }): JSX.Element {
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The store; null while nobody is signed in. */
export const useLive = (): Live | null => useContext(LiveContext);

/** The state of the connection, and how old what is shown is. */
export const useLiveStatus = (): LiveStatus => useSnapshot((live) => live?.status() ?? NONE);

/** The reply in progress of a thread, while this component is shown. A thread that is not at work needs no stream. */
export function useDraft(appId: string, threadId: string, isAtWork: boolean): Draft | null {
  const live = useLive();
  useEffect(
    () => (isAtWork ? live?.watchThread(appId, threadId) : undefined),
    [live, appId, threadId, isAtWork],
  );
  return useSnapshot((from) => from?.draft(threadId) ?? null);
}

/** Calls the listener with new events, once per frame. */
export function useEvents(listener: (events: HeadraceEvent[]) => void): void {
  const live = useLive();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => live?.onEvents((events) => latest.current(events)), [live]);
}

function useSnapshot<T>(read: (live: Live | null) => T): T {
  const live = useLive();
  const subscribe = useCallback((listener: () => void) => live?.subscribe(listener) ?? (() => {}), [live]);
  const snapshot = () => read(live);
  return useSyncExternalStore(subscribe, snapshot, snapshot);
}
