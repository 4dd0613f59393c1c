/** The thread that is shown, for all parts of its page. */
import type { Thread } from '@headrace/client';
import { createContext, useContext } from 'react';
import type { LaneName } from '../../live/index.ts';

export interface ThreadPlace {
  appId: string;
  threadId: string;
  thread: Thread;
  /** The feed that has its events; null until it is known whether the project is an app. */
  lane: LaneName | null;
}

export const ThreadContext = createContext<ThreadPlace | null>(null);

export function useThread(): ThreadPlace {
  const place = useContext(ThreadContext);
  if (!place) throw new Error('No thread is shown.');
  return place;
}

/** From `/api`. */
export const pathOf = ({ appId, threadId }: Pick<ThreadPlace, 'appId' | 'threadId'>, rest = ''): string =>
  `/api/platform/v1/apps/${appId}/threads/${threadId}${rest}`;

/** `client.threads.stop('prj_…', 'thr_…')`, with more arguments as JSON. */
export const callOf = (
  name: string,
  { appId, threadId }: Pick<ThreadPlace, 'appId' | 'threadId'>,
  ...rest: unknown[]
): string =>
  `client.${name}(${[appId, threadId, ...rest].map((one) => JSON.stringify(one, null, 2)).join(', ')})`;
