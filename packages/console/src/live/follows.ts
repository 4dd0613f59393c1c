/** How a query says which events change its data: `meta: { follows: { types: ['run.'], appId } }`. */
import type { HeadraceEvent } from '@headrace/client';

export interface Follows {
  /** Prefixes of event types: `run.`, `platform.build.`. */
  types: readonly string[];
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
export function isFollowed({ types, appId, threadId, runId, ids }: Follows, event: HeadraceEvent): boolean {
  return (
    (appId === undefined || appId === event.appId) &&
    (threadId === undefined || threadId === event.threadId) &&
    (runId === undefined || runId === event.runId) &&
    (ids === undefined || ids.includes(subjectOf(event).id ?? '')) &&
    types.some((prefix) => event.type.startsWith(prefix))
  );
}

/** What the event is about. */
export const subjectOf = ({ data }: HeadraceEvent): { id?: string; status?: string } => data;
