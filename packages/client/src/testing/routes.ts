/** The operations of the test service, by the names of the client's methods. */
import { createApply, getApply, listApplies, previewApply, previewFile } from './applies.ts';
import {
  cancelBuild,
  createAppBuild,
  createBuild,
  getArtifact,
  getBuild,
  getLogs,
  getManifest,
  listAppBuilds,
  listBuilds,
} from './builds.ts';
import type { Call, Reply } from './call.ts';
import { getOperation, listOperations } from './receipts.ts';
import * as sources from './sources.ts';
import * as threads from './threads.ts';

export interface Route {
  method: string;
  /** `:` is an id. */
  path: string;
  status: number;
  /** A write with a key and a receipt. */
  takesKey: boolean;
  /** The supported query parameters. */
  query: string[];
  handle: (call: Call) => Reply | Promise<Reply>;
}

const PAGE = ['limit', 'cursor'];
const EVENTS = ['threadId', 'runId', 'types', 'cursor', 'limit'];
const ROOT = '/api/platform/v1';
const A = `${ROOT}/apps/:`;
const T = `${A}/threads/:`;

const get = (path: string, handle: Route['handle'], query: string[] = []): Route => ({
  method: 'GET',
  path,
  status: 200,
  takesKey: false,
  query,
  handle,
});
const send = (
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  status: number,
  handle: Route['handle'],
): Route => ({ method, path, status, takesKey: true, query: [], handle });

const head = (call: Call): Reply => call.world.log.head(appOf(call), call.query);
const list = (call: Call): Promise<Reply> => call.world.log.list(appOf(call), call.query, call.signal);
const stream = (call: Call): Reply => {
  const open = call.world.log.stream(appOf(call), call.query, call.headers.get('last-event-id'));
  return new Response(open(call.signal), { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
};
const appOf = ({ world, ids }: Call): string | null => (ids.length === 0 ? null : world.app(ids[0]!).app.id);

export const ROUTES = {
  'apps.create': send('POST', `${ROOT}/apps`, 201, sources.createApp),
  'apps.list': get(`${ROOT}/apps`, sources.listApps, [...PAGE, 'externalId', 'query']),
  'apps.get': get(A, sources.getApp),
  'apps.update': send('PATCH', A, 200, sources.updateApp),
  'apps.delete': send('DELETE', A, 200, sources.deleteApp),
  'head.initialize': send('POST', `${A}/source-head/initialize`, 201, sources.initializeHead),
  'head.get': get(`${A}/source-head`, sources.getHead),
  'head.history': get(`${A}/source-head/history`, sources.listHeads, PAGE),
  'sources.import': send('POST', `${A}/sources`, 201, sources.importSource),
  'sources.list': get(`${A}/sources`, sources.listSources, PAGE),
  'sources.get': get(`${A}/sources/:`, sources.getSource),
  'sources.files': get(`${A}/sources/:/files`, sources.listFiles, [...PAGE, 'prefix']),
  'sources.file': get(`${A}/sources/:/file`, sources.getFile, ['path']),
  'sources.archive': get(`${A}/sources/:/archive`, sources.getArchive),
  'sources.diff': get(`${A}/sources/:/diff`, sources.getDiff, ['base', 'patches']),
  'threads.create': send('POST', `${A}/threads`, 201, threads.createThread),
  'threads.fork': send('POST', `${T}/fork`, 201, threads.forkThread),
  'threads.list': get(`${A}/threads`, threads.listThreads, [...PAGE, 'status']),
  'threads.get': get(T, threads.getThread),
  'threads.update': send('PATCH', T, 200, threads.updateThread),
  'threads.delete': send('DELETE', T, 200, threads.deleteThread),
  'messages.send': send('POST', `${T}/messages`, 201, threads.sendMessage),
  'messages.list': get(`${T}/messages`, threads.listMessages, [...PAGE, 'order', 'inherited']),
  'runs.list': get(`${T}/runs`, threads.listRuns, PAGE),
  'runs.get': get(`${T}/runs/:`, threads.getRun, ['waitSeconds']),
  'runs.tools': get(`${T}/runs/:/tools`, threads.listTools, [...PAGE, 'order']),
  'runs.stop': send('POST', `${T}/stop`, 202, threads.stopRun),
  'runs.retry': send('POST', `${T}/retry`, 202, threads.retryRun),
  'approvals.list': get(`${T}/approvals`, threads.listApprovals, PAGE),
  'approvals.answer': send('POST', `${T}/approvals/:`, 200, threads.answerApproval),
  'edits.create': send('POST', `${T}/edits`, 201, threads.createEdit),
  'applies.create': send('POST', `${T}/apply`, 202, createApply),
  'applies.preview': { ...send('POST', `${T}/apply/preview`, 200, previewApply), takesKey: false },
  'applies.previewFile': { ...send('POST', `${T}/apply/preview/file`, 200, previewFile), takesKey: false },
  'applies.list': get(`${A}/applies`, listApplies, [...PAGE, 'threadId']),
  'applies.get': get(`${A}/applies/:`, getApply, ['waitSeconds']),
  'builds.create': send('POST', `${T}/builds`, 202, createBuild),
  'builds.list': get(`${T}/builds`, listBuilds, PAGE),
  'builds.createOfApp': send('POST', `${A}/builds`, 202, createAppBuild),
  'builds.listOfApp': get(`${A}/builds`, listAppBuilds, [...PAGE, 'threadId', 'sourceId', 'status']),
  'builds.get': get(`${A}/builds/:`, getBuild, ['waitSeconds']),
  'builds.cancel': send('POST', `${A}/builds/:/cancel`, 202, cancelBuild),
  'builds.manifest': get(`${A}/builds/:/manifest`, getManifest),
  'builds.artifact': get(`${A}/builds/:/artifact`, getArtifact),
  'builds.logs': get(`${A}/builds/:/logs`, getLogs, ['offset', 'waitSeconds']),
  'events.head': get(`${ROOT}/events/head`, head, EVENTS),
  'events.list': get(`${ROOT}/events`, list, [...EVENTS, 'waitSeconds']),
  'events.stream': get(`${ROOT}/events/stream`, stream, EVENTS),
  'operations.get': get('/api/operations/:', getOperation),
  'operations.list': get('/api/operations', listOperations, [...PAGE, 'idempotencyKey']),
} satisfies Record<string, Route>;

export type OperationName = keyof typeof ROUTES;

/** The feed of all apps, and that of one. */
const places = ([name, route]: [string, Route]): [OperationName, Route][] =>
  name.startsWith('events.')
    ? [
        [name as OperationName, route],
        [name as OperationName, { ...route, path: route.path.replace(ROOT, A) }],
      ]
    : [[name as OperationName, route]];

const TABLE = Object.entries<Route>(ROUTES)
  .flatMap(places)
  .map(([name, route]) => ({
    name,
    route,
    pattern: new RegExp(`^${route.path.replaceAll(':', '([^/]+)')}$`),
  }));

export interface Found {
  name: OperationName;
  route: Route;
  ids: string[];
}

export function findRoute(method: string, path: string): Found | null {
  for (const { name, route, pattern } of TABLE) {
    const found = route.method === method ? pattern.exec(path) : null;
    if (found) return { name, route, ids: found.slice(1).map(decodeURIComponent) };
  }
  return null;
}
