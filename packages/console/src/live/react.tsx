/** The live store in components. Without one (signed out), all is still: no drafts, no events. */
import type { Draft } from '@headrace/client';
import { createContext, useCallback, useContext, useEffect, useRef, useSyncExternalStore } from 'react';
import type { JSX, ReactNode } from 'react';
import type { LaneName, LiveEvent, LiveThread } from './lanes.ts';
import type { Live } from './live.ts';
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

/**
 * The reply in progress of a thread, while this component is shown. A thread that is not at work needs no stream, and
 * until its kind of project is known (`lane`), there is none.
 */
export function useDraft(
  { appId, threadId, lane }: Omit<LiveThread, 'lane'> & { lane: LaneName | null },
  isAtWork: boolean,
): Draft | null {
  const live = useLive();
  useEffect(
    () => (isAtWork && lane !== null ? live?.watchThread({ appId, threadId, lane }) : undefined),
    [live, appId, threadId, lane, isAtWork],
  );
  return useSnapshot((from) => from?.draft(threadId) ?? null);
}

/** Calls the listener with new events, once per frame. */
export function useEvents(listener: (events: LiveEvent[]) => void): void {
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
