/** What asks for the events of a feed after one of them. */
import type { Feed } from '@headrace/client';
import { quoted } from '../../ui/quoted.ts';

export function pathOf(feed: Feed): string {
  if ('direct' in feed) return '/api/events';
  return feed.appId === undefined ? '/api/platform/v1/events' : `/api/platform/v1/apps/${feed.appId}/events`;
}

export function queryOf(feed: Feed): Record<string, string> {
  const { threadId, runId, types } = feed;
  const projectId = 'direct' in feed ? feed.projectId : undefined;
  return {
    ...(projectId !== undefined && { projectId }),
    ...(threadId !== undefined && { threadId }),
    ...(runId !== undefined && { runId }),
    ...(types?.length && { types: types.join(',') }),
  };
}

export function commandOf(feed: Feed, cursor: string): string {
  const { threadId, runId, types = [] } = feed;
  const scope =
    'direct' in feed
      ? ['--direct', ...(feed.projectId === undefined ? [] : [`--project ${quoted(feed.projectId)}`])]
      : [feed.appId === undefined ? '--all-apps' : `--app ${quoted(feed.appId)}`];
  return [
    'headrace events',
    ...scope,
    ...(threadId === undefined ? [] : [`--thread ${quoted(threadId)}`]),
    ...(runId === undefined ? [] : [`--run ${quoted(runId)}`]),
    ...types.map((type) => `--type ${quoted(type)}`),
    `--since ${quoted(cursor)}`,
  ].join(' ');
}
