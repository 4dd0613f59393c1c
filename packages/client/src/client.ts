/** `createClient`: every operation of the API as a method, and clients bound to an app, a project or a thread. */
import { createEvents } from './events/index.ts';
import type { Events } from './events/index.ts';
import { followThread } from './follow/index.ts';
import type { FollowItem, FollowOptions } from './follow/index.ts';
import type {
  AppResources,
  AppThreadResources,
  ProjectResources,
  Resources,
  ThreadResources,
} from './generated/methods.ts';
import type { Operation } from './generated/types.ts';
import { createHttp } from './http.ts';
import type { ClientOptions, Http, Query } from './http.ts';
import { keysFrom } from './keys.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { makeResources } from './resources.ts';
import type { Api } from './resources.ts';

interface Receipts {
  /** The receipt of the write that was sent with this key; null if the service has none. */
  find(idempotencyKey: string, options?: CallOptions): Promise<Operation | null>;
}

/** The app's own calls are direct members, next to the resources in the app. */
type Own<T, K extends keyof T> = T[K] & Omit<T, K>;
interface Following {
  /** The thread's history, then its changes, as items to render. Ends when the thread has nothing to do. */
  follow(options?: FollowOptions): AsyncGenerator<FollowItem>;
}
export type ThreadHandle = Own<ThreadResources, 'threads'> & Following;
export type AppThreadHandle = Own<AppThreadResources, 'threads'> & Following;
export type ProjectHandle = Own<ProjectResources, 'projects'>;
export type AppHandle = Own<AppResources, 'apps'> & {
  /** One of the app's threads. */
  thread(threadId: string): AppThreadHandle;
};

export interface RequestOptions extends WriteOptions {
  query?: Query | undefined;
  /** Sent as JSON; with `contentType`, bytes that are sent as they are. */
  body?: unknown;
  contentType?: string;
}

export interface Client extends Resources {
  operations: Resources['operations'] & Receipts;
  events: Events;
  threads: Resources['threads'] & {
    /** The thread's history, then its changes, as items to render. Ends when the thread has nothing to do. */
    follow(appId: string, threadId: string, options?: FollowOptions): AsyncGenerator<FollowItem>;
  };
  /** Calls for one app, on the Platform API. */
  app(appId: string): AppHandle;
  /** Calls for one project, on the Direct API. */
  project(projectId: string): ProjectHandle;
  /** Calls for one thread, on the Direct API. */
  thread(threadId: string): ThreadHandle;
  /**
   * Runs `work` with a client that derives the key of each write from `key`, the method, and the count of its calls:
   * `key:apps.create`, then `key:apps.create:2`. `work` may run again, even in another process, and each of its writes
   * still has one effect. The calls of each method must be the same, in the same order; concurrent calls each need
   * their own `idempotencyKey`.
   */
  operation<T>(key: string, work: (client: Client) => Promise<T>): Promise<T>;
  /** Any operation by its method and path. Returns the successful answer, unread. Throws HeadraceError. */
  request(method: string, path: string, options?: RequestOptions): Promise<Response>;
}

/** Throws TypeError for options that cannot work. */
export const createClient = (options: ClientOptions): Client => clientOf(createHttp(options));

function clientOf(http: Http): Client {
  const resources = makeResources(http, 'platform') as unknown as Resources;
  return {
    ...resources,
    operations: {
      ...resources.operations,
      find: async (idempotencyKey, options) =>
        (await resources.operations.list({ ...options, idempotencyKey })).items[0] ?? null,
    },
    events: createEvents(http),
    threads: {
      ...resources.threads,
      follow: (appId, threadId, options) => followThread(http, { appId, threadId }, options),
    },
    app: (appId) => ({
      ...handle<AppHandle>(http, 'apps', ['platform', APP, appId]),
      thread: (threadId) => ({
        ...handle<AppThreadHandle>(http, 'threads', ['platform', `${APP}/threads/:`, appId, threadId]),
        follow: (options) => followThread(http, { appId, threadId }, options),
      }),
    }),
    project: (projectId) => handle(http, 'projects', ['direct', '/api/projects/:', projectId]),
    thread: (threadId) => ({
      ...handle<ThreadHandle>(http, 'threads', ['direct', '/api/threads/:', threadId]),
      follow: (options) => followThread(http, { threadId }, options),
    }),
    operation: (key, work) => work(clientOf(http.withKeys(keysFrom(key)))),
    request: (method, path, { idempotencyKey, ...options } = {}) =>
      // A path that began with anything else could make it another host.
      http.open({
        ...options,
        method,
        path: path.replace(/^\/?/, '/'),
        // A read must not use up the key of a write after it.
        ...(method !== 'GET' && { key: idempotencyKey ?? http.nextKey('request') }),
      }),
  };
}

const APP = '/api/platform/v1/apps/:';

/** The bound calls; those of the resource `own` are direct members. */
function handle<T>(http: Http, own: string, [api, root, ...ids]: [Api, string, ...string[]]): T {
  const { [own]: calls, ...rest } = makeResources(http, api, root, ids);
  return { ...rest, ...calls } as T;
}
