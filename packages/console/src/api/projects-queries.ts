/** What pages read of projects, and of what lists of one app or project are narrowed by. */
import { client } from './client.ts';
import { many, one } from './query.ts';

/** Of the Direct API. No event tells of all of their changes. */
export const projectsQuery = (filter: { query?: string; repositoryId?: string } = {}) => ({
  ...many(['projects', filter], { types: ['platform.head.', 'operation.'] }, (options) =>
    client.projects.list({ ...options, ...filter, kind: 'direct' }),
  ),
  staleTime: 0,
});

/** `threadId`: `none` for those without one. */
export interface WorkFilter {
  status?: string;
  threadId?: string;
  sourceId?: string;
}

export const buildsOfQuery = (appId: string, filter: WorkFilter = {}) =>
  many(['app', appId, 'builds', filter], { types: ['platform.build.'], appId }, (options) =>
    client.builds.listOfApp(appId, { ...options, ...filter }),
  );

export const previewsOfQuery = (appId: string, filter: WorkFilter = {}) =>
  many(['app', appId, 'previews', filter], { types: ['preview.'], appId }, (options) =>
    client.previews.listOfApp(appId, { ...options, ...filter }),
  );

export const workspacePolicyQuery = (appId: string, threadId: string) => ({
  ...one(
    ['app', appId, 'thread', threadId, 'policy'],
    { types: ['workspace.'], appId, threadId },
    (options) => client.workspaces.policy(appId, threadId, options),
  ),
  staleTime: 0,
});

export const workspaceHistoryQuery = (appId: string, threadId: string) => ({
  ...many(
    ['app', appId, 'thread', threadId, 'workspace'],
    { types: ['workspace.'], appId, threadId },
    (options) => client.workspaces.history(appId, threadId, options),
  ),
  staleTime: 0,
});
