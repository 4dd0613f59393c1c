/** How a query says which events change its data: `meta: { follows: { types: ['run.'], appId } }`. */
import type { LiveEvent } from './lanes.ts';

export interface Follows {
  /** Prefixes of event types: `run.`, `platform.build.`. */
  types: readonly string[];
  /** Or a Direct project's id. */
  appId?: string;
  threadId?: string;
  runId?: string;
  /** Ids in `event.data.id`. */
  ids?: readonly string[];
}

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { follows?: Follows };
  }
}

/** Whether the event may change what the query shows. */
export function isFollowed({ types, appId, threadId, runId, ids }: Follows, event: LiveEvent): boolean {
  return (
    (appId === undefined || appId === event.projectId) &&
    (threadId === undefined || threadId === event.threadId) &&
    (runId === undefined || runId === event.runId) &&
    (ids === undefined || ids.includes(subjectOf(event).id ?? '')) &&
    types.some((prefix) => event.type.startsWith(prefix))
  );
}

/** What the event is about. */
export const subjectOf = ({ data }: LiveEvent): { id?: string; status?: string } => data;
