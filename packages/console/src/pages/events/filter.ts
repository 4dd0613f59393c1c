/** Which events are shown: the same as words of the address, as a feed of the API, and as a test of one event. */
import type { AppFeed, DirectFeed, DirectEvent, Feed, HeadraceEvent } from '@headrace/client';

/** Events of projects have no `appId`. */
export type AnyEvent = DirectEvent & { appId?: string };

/** As the address has it. */
export interface EventSearch {
  feed?: 'direct';
  appId?: string;
  threadId?: string;
  runId?: string;
  /** With commas between. */
  types?: string;
  /** The one that is unfolded. */
  event?: string;
  paused?: boolean;
}

/** What says nothing is not in the address. */
export type Change = { [K in keyof EventSearch]: EventSearch[K] | undefined };

export interface Filter {
  isDirect: boolean;
  /** An app, or a project of the Direct feed. */
  appId: string | undefined;
  threadId: string | undefined;
  runId: string | undefined;
  types: readonly string[];
}

/** `run.completed,run.failed`. */
export const typesOf = (text: string | undefined): string[] => [
  ...new Set((text ?? '').split(',').filter((type) => type !== '')),
];

export const isFiltered = ({ appId, threadId, runId, types }: Filter): boolean =>
  [appId, threadId, runId].some((id) => id !== undefined) || types.length > 0;

/** The feed of the API with these filters. */
export function feedOf({ isDirect, appId, threadId, runId, types }: Filter): Feed {
  const filters = {
    ...(threadId !== undefined && { threadId }),
    ...(runId !== undefined && { runId }),
    ...(types.length > 0 && { types }),
  };
  return isDirect
    ? ({ direct: true, ...(appId !== undefined && { projectId: appId }), ...filters } satisfies DirectFeed)
    : ({ ...(appId !== undefined && { appId }), ...filters } satisfies AppFeed);
}

/** The feed of the live store that the events are on: it has no filters. */
export const liveFeedOf = ({ isDirect }: Filter): Feed => (isDirect ? { direct: true } : {});

export const matches = (
  { isDirect, appId, threadId, runId, types }: Filter,
  event: AnyEvent | HeadraceEvent,
): boolean =>
  isDirect === (event.appId === undefined) &&
  (appId === undefined || appId === event.projectId) &&
  (threadId === undefined || threadId === event.threadId) &&
  (runId === undefined || runId === event.runId) &&
  (types.length === 0 || types.includes(event.type));
