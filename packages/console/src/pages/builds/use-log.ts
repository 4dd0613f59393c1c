import { useEffect, useReducer, useRef, useState } from 'react';
import { client } from '../../api/client.ts';
import { emptyLog, readLog } from './log-reader.ts';
import type { LogState } from './log-reader.ts';

const WAIT_SECONDS = 25;
const READ_TIMEOUT_MS = 40_000;

/** What has a log. */
export interface Logged {
  of: 'builds' | 'setups';
  appId: string;
  id: string;
}

/** The log of a build or a setup, read while this is shown and the tab is in front: a hidden tab holds no connection. */
export function useLog({ of, appId, id }: Logged): { state: LogState; again: () => void } {
  const [round, again] = useReducer((count: number) => count + 1, 0);
  const [state, setState] = useState(emptyLog);
  const isVisible = useIsVisible();
  const isPaused = useRef(!isVisible);
  useEffect(() => {
    isPaused.current = !isVisible;
    for (const wake of sleepers) wake();
  }, [isVisible]);
  useEffect(() => {
    const ended = new AbortController();
    setState(emptyLog());
    void readLog(
      {
        read: async (offset, signal) => {
          while (isPaused.current && !signal.aborted) await untilWoken(signal);
          return client[of].logs(appId, id, {
            offset,
            waitSeconds: WAIT_SECONDS,
            timeoutMs: READ_TIMEOUT_MS,
            signal,
          });
        },
        pause,
      },
      // Its lines are one array that grows.
      (next) => setState({ ...next }),
      ended.signal,
    );
    return () => ended.abort();
  }, [of, appId, id, round]);
  return { state, again };
}

const sleepers = new Set<() => void>();

function untilWoken(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      sleepers.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    sleepers.add(wake);
    signal.addEventListener('abort', wake);
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

function useIsVisible(): boolean {
  const [isVisible, setVisible] = useState(() => document.visibilityState === 'visible');
  useEffect(() => {
    const follow = () => setVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', follow);
    return () => document.removeEventListener('visibilitychange', follow);
  }, []);
  return isVisible;
}
