/**
 * The three feeds: an app's, all apps', the Direct one. Opening one checks what its filters name and says
 * what its reader sees.
 */
import { Type } from 'typebox';
import type { Static, TProperties } from 'typebox';
import type { Db } from '../db/database.ts';
import { seesProject } from '../http/principal.ts';
import { invalid, notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { Body, IdInput, ORDER } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { bindingOf } from './cursor.ts';
import type { Binding } from './cursor.ts';
import type { EventFilter } from './filter.ts';
import { findThreadProject } from './store.ts';
import { isEventType } from './types.ts';
import type { EventType } from './types.ts';

export type FeedName = 'app' | 'all' | 'direct';

/** The filters of every feed; a cursor is bound to them. */
const FILTERS = {
  threadId: Type.Optional(IdInput('thr', 'Only this thread’s events. On a stream also its drafts.')),
  runId: Type.Optional(IdInput('run', 'Only this run’s events.')),
  types: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4000,
      examples: ['run.completed,run.failed'],
      description: 'Only these event types: exact names, separated by commas.',
    }),
  ),
};
const PROJECT = { projectId: Type.Optional(IdInput('prj', 'Only this Direct project’s events.')) };
const CURSOR = {
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description:
        'Continue after this cursor, from a page, an event, a head or a heartbeat, with the same filters.',
    }),
  ),
};
const LIMIT = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Events on a page.' }),
  ),
};
const WAIT = {
  waitSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      default: 0,
      description: 'If there is no event yet, wait for the first one, at most this many seconds.',
    }),
  ),
};

const queries = <P extends TProperties>(own: P) => ({
  list: Body({ ...own, ...FILTERS, ...CURSOR, ...LIMIT, ...WAIT, ...ORDER }),
  // One query serves all three: head and streams ignore the parameters that mean nothing to them.
  head: Body({ ...own, ...FILTERS, ...CURSOR, ...LIMIT }),
  stream: Body({ ...own, ...FILTERS, ...CURSOR, ...LIMIT }),
});
export const PLATFORM_QUERY = queries({});
export const DIRECT_QUERY = queries(PROJECT);

/** The query of any feed operation; head and streams have no `order` and no `waitSeconds`. */
type FeedQuery = Static<(typeof DIRECT_QUERY)['list']>;
export type FeedCall = Call<FeedQuery>;

export interface Feed {
  filter: EventFilter;
  binding: Binding;
}

/** 400 at /query/types where a name is none of an event type. */
function parseTypes(text: string | undefined): ReadonlySet<EventType> | null {
  if (text === undefined) return null;
  const types = text.split(',').filter((name, i, all) => all.indexOf(name) === i);
  if (!types.every(isEventType))
    throw invalid({ path: '/query/types', message: 'must be exact event types, separated by commas' });
  return new Set(types);
}

async function requireThread(db: Db, call: FeedCall, name: FeedName): Promise<void> {
  const { threadId } = call.query;
  if (threadId === undefined) return;
  const project = await findThreadProject(db, call.principal.orgId, threadId);
  const isOnFeed =
    project &&
    project.kind === (name === 'direct' ? 'direct' : 'platform') &&
    (name !== 'app' || project.id === call.params.appId) &&
    seesProject(call.principal, project.id);
  if (!isOnFeed) throw notFound('thread');
}

async function requireProject(call: FeedCall, name: FeedName): Promise<string | null> {
  if (name === 'app') return (await loadProject(call.ctx.db, call)).id;
  if (name === 'all' || call.query.projectId === undefined) return null;
  const project = await loadProject(call.ctx.db, call, 'none', call.query.projectId);
  if (project.kind !== 'direct') throw notFound('project');
  return project.id;
}

/**
 * Opens the feed for this call. Throws 400 at /query/types, `app_not_found`, `project_not_found`,
 * `thread_not_found`.
 */
export async function openFeed(call: FeedCall, name: FeedName): Promise<Feed> {
  const types = parseTypes(call.query.types);
  const projectId = await requireProject(call, name);
  await requireThread(call.ctx.db, call, name);
  const filter: EventFilter = {
    orgId: call.principal.orgId,
    feed: name === 'direct' ? 'direct' : 'platform',
    projectId,
    projectIds: name === 'app' ? null : call.principal.projectIds,
    threadId: call.query.threadId ?? null,
    runId: call.query.runId ?? null,
    types,
  };
  return { filter, binding: bindingOf(filter, call.ctx.events.generation) };
}
