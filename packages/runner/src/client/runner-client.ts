import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { linesOf } from '@headrace/agent/lines.ts';
import { RunnerError } from '../errors.ts';
import { FENCE_HEADER } from '../protocol.ts';
import { openLink, type Link, type RunnerTarget } from './link.ts';
import type {
  CaptureResult,
  JournalEntry,
  Origin,
  OverRequest,
  RunnerStatus,
  SteerRequest,
  TaskRequest,
  TaskState,
  WorkspaceSize,
  WorkspaceState,
} from '../protocol.ts';

/**
 * The runner's protocol as calls. Every call rejects with RunnerError: `unavailable` 503 where no runner
 * answers.
 */
export interface RunnerClient {
  status(): Promise<RunnerStatus>;
  /** What the runner measures, in Prometheus' text format. */
  metrics(signal: AbortSignal): Promise<string>;
  /**
   * Makes it from a tar of all files, or from kept files. Throws `not_cached` 404 when they are not kept (any
   * more), `no_history` 404 when its history is not, `no_layer` 404 when its layer is not. With a `fence`,
   * here and below: `superseded` 409 where a later one was seen.
   */
  putWorkspace(
    id: string,
    tar: Readable | Buffer | undefined,
    origin?: Origin,
    fence?: number,
  ): Promise<void>;
  /** Keeps a `.git` under a key for the workspaces of a project. */
  putHistory(key: string, group: string, tar: Readable): Promise<void>;
  /** Keeps a folder under a key for the turns of a project. */
  putContext(key: string, group: string, tar: Readable): Promise<void>;
  /** Keys of the files kept for a project, the most recently used first. */
  keptSources(group: string): Promise<string[]>;
  /** Keys of the layers kept for a project, the most recently used first. */
  keptLayers(group: string): Promise<string[]>;
  /** Projects for which the runner keeps files, histories or layers. */
  groups(): Promise<string[]>;
  /** Drops what is kept for a project and not in use. */
  forgetGroup(group: string): Promise<void>;
  workspaceExists(id: string): Promise<boolean>;
  workspaceSizes(): Promise<WorkspaceSize[]>;
  /** The key of the kept files that a workspace lies over. */
  baseOf(id: string): Promise<string | null>;
  deleteWorkspace(id: string, fence?: number): Promise<void>;
  /** Captures the source: the paths that it had, or the kept files that it lies over. */
  capture(id: string, base: string[] | OverRequest): Promise<CaptureResult>;
  /** A tar of the captured contents, in the order of `paths`; fails midway when they are no longer there. */
  blobs(id: string, paths: string[]): Promise<Readable>;
  patch(id: string, tar: Readable | Buffer, fence?: number): Promise<void>;
  /**
   * isNew is false when a task with this id existed already. Throws `no_context` 404 where a turn's context is
   * not kept.
   */
  startTask(id: string, request: TaskRequest, fence?: number): Promise<TaskState & { isNew: boolean }>;
  tasks(): Promise<TaskState[]>;
  task(id: string): Promise<TaskState>;
  /**
   * Entries from `from` on as they arrive, up to the end entry. Throws `unavailable` when the runner dies
   * before it. `draft` spares the transfer of all that is neither the reply nor the end; a runner of an older
   * version sends it nevertheless.
   */
  journal(id: string, from?: number, signal?: AbortSignal, only?: 'draft'): AsyncIterable<JournalEntry>;
  ack(id: string, offset: number): Promise<void>;
  cancel(id: string): Promise<void>;
  /**
   * Holds a running turn still, for 10 s at most: its workspace may be captured then. Throws `busy` and
   * `invalid_state` 409, `not_paused` 503.
   */
  pause(id: string): Promise<void>;
  /** The turn goes on. Idempotent. */
  resume(id: string): Promise<void>;
  answerPermission(id: string, requestId: string, allow: boolean): Promise<void>;
  /** Hands a message to a running turn. Throws `not_steerable` 409; `no_answer` 504: ask again. */
  steer(id: string, message: SteerRequest): Promise<void>;
  /** Announces that the model gateway is served at that socket; to be repeated every second. */
  registerGateway(id: string, socketPath: string): Promise<void>;
  /** Files as for putWorkspace; for a running preview a patch; for a setup the files that it is given. */
  putSource(id: string, tar: Readable | Buffer | undefined, origin?: Origin): Promise<void>;
  output(id: string): Promise<Readable>;
  deleteTask(id: string, fence?: number): Promise<void>;
  connect(id: string): Promise<Duplex>;
  /** Closes idle connections. */
  close(): void;
}

/** A client of the runner on a unix socket, or of one on a node over mTLS. */
export const createRunnerClient = (target: RunnerTarget): RunnerClient =>
  callsOver(new Connection(openLink(target)));

export function callsOver(connection: Connection): RunnerClient {
  const send = connection.send.bind(connection);
  const call = connection.call.bind(connection);
  return {
    status: () => call('GET', '/status'),
    metrics: async (signal) => textOf(await send('GET', '/metrics', { signal })),
    putWorkspace: (id, tar, origin = {}, fence) =>
      call('PUT', at('workspaces', id, queryOf(origin)), { tar, fence }),
    putHistory: (key, group, tar) => call('PUT', at('histories', key, `?group=${group}`), { tar }),
    putContext: (key, group, tar) => call('PUT', at('contexts', key, `?group=${group}`), { tar }),
    groups: async () => (await call<{ groups: string[] }>('GET', '/groups')).groups,
    forgetGroup: (group) => call('DELETE', `/groups/${encodeURIComponent(group)}`),
    keptSources: async (group) =>
      (await call<{ keys: string[] }>('GET', `/sources?group=${encodeURIComponent(group)}`)).keys,
    keptLayers: async (group) =>
      (await call<{ keys: string[] }>('GET', `/layers?group=${encodeURIComponent(group)}`)).keys,
    workspaceExists: async (id) => (await call<WorkspaceState>('GET', at('workspaces', id))).exists,
    workspaceSizes: async () =>
      (await call<{ workspaces: WorkspaceSize[] }>('GET', '/workspaces')).workspaces,
    baseOf: async (id) => (await call<WorkspaceState>('GET', at('workspaces', id))).base,
    deleteWorkspace: (id, fence) => call('DELETE', at('workspaces', id), { fence }),
    capture: (id, base) =>
      call('POST', at('workspaces', id, '/capture'), {
        body: Array.isArray(base) ? { basePaths: base } : base,
      }),
    blobs: (id, paths) => send('POST', at('workspaces', id, '/blobs'), { body: { paths } }),
    patch: (id, tar, fence) => call('POST', at('workspaces', id, '/patch'), { tar, fence }),
    async startTask(id, request, fence) {
      const res = await send('POST', at('tasks', id), { body: request, fence });
      return { ...(JSON.parse(await textOf(res)) as TaskState), isNew: res.statusCode === 201 };
    },
    tasks: async () => (await call<{ tasks: TaskState[] }>('GET', '/tasks')).tasks,
    task: (id) => call('GET', at('tasks', id)),
    async *journal(id, from = 0, signal, only) {
      const query = `?from=${from}${only ? `&only=${only}` : ''}`;
      const res = await send('GET', at('tasks', id, `/journal${query}`), { signal });
      yield* entriesOf(res);
    },
    ack: (id, offset) => call('POST', at('tasks', id, '/ack'), { body: { offset } }),
    cancel: (id) => call('POST', at('tasks', id, '/cancel')),
    pause: (id) => call('POST', at('tasks', id, '/pause')),
    resume: (id) => call('POST', at('tasks', id, '/resume')),
    answerPermission: (id, requestId, allow) =>
      call('POST', at('tasks', id, `/permissions/${encodeURIComponent(requestId)}`), { body: { allow } }),
    steer: (id, message) => call('POST', at('tasks', id, '/steer'), { body: message }),
    registerGateway: (id, socketPath) => call('PUT', at('gateways', id), { body: { socketPath } }),
    putSource: (id, tar, origin = {}) => call('PUT', at('tasks', id, `/source${queryOf(origin)}`), { tar }),
    output: (id) => send('GET', at('tasks', id, '/output')),
    deleteTask: (id, fence) => call('DELETE', at('tasks', id), { fence }),
    connect: (id) => connection.upgrade(at('tasks', id, '/connect')),
    close: () => connection.close(),
  };
}

export const at = (
  kind: 'workspaces' | 'histories' | 'contexts' | 'tasks' | 'gateways',
  id: string,
  rest = '',
): string => `/${kind}/${encodeURIComponent(id)}${rest}`;

interface Options {
  body?: unknown;
  tar?: Readable | Buffer | undefined;
  signal?: AbortSignal | undefined;
  fence?: number | undefined;
}

/** HTTP over the link to the runner. Rejects with RunnerError. */
export class Connection {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  /** The answer, whose body is yet to be read. */
  send(method: string, path: string, options: Options = {}): Promise<IncomingMessage> {
    const { body, tar, signal } = options;
    return new Promise((resolve, reject) => {
      const req = this.#link.request({ method, path, headers: headersOf(options), signal });
      req.once('error', (error) => reject(unavailable(error)));
      req.once('response', (res) => {
        if ((res.statusCode ?? 500) < 400) resolve(res);
        else refusal(res).then(reject, reject);
      });
      if (tar instanceof Readable)
        pipeline(tar, req).catch((error: Error) => {
          req.destroy(error);
          reject(unavailable(error));
        });
      else req.end(tar ?? (body === undefined ? undefined : JSON.stringify(body)));
    });
  }

  /** The answer's JSON; undefined for an empty answer. */
  async call<T>(method: string, path: string, options?: Options): Promise<T> {
    const text = await textOf(await this.send(method, path, options));
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  upgrade(path: string): Promise<Duplex> {
    return upgraded(this.#link.request({ path, headers: { connection: 'Upgrade', upgrade: 'tcp' } }));
  }

  close(): void {
    this.#link.close();
  }
}

function upgraded(req: ClientRequest): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    req.once('error', (error) => reject(unavailable(error)));
    req.once('response', (res) => {
      refusal(res).then(reject, reject);
    });
    req.once('upgrade', (_res, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    req.end();
  });
}

function headersOf({ body, tar, fence }: Options): Record<string, string> {
  const headers: Record<string, string> = {};
  if (tar !== undefined) headers['content-type'] = 'application/x-tar';
  else if (body !== undefined) headers['content-type'] = 'application/json';
  if (fence !== undefined) headers[FENCE_HEADER] = String(fence);
  return headers;
}

function queryOf({ base, keep, layer, history }: Origin): string {
  const query = new URLSearchParams();
  if (base !== undefined) query.append('base', base);
  else if (keep) {
    query.append('keep', keep.key);
    query.append('group', keep.group);
  }
  if (layer !== undefined) query.append('layer', layer);
  if (history !== undefined) query.append('history', history);
  return query.size > 0 ? `?${query.toString()}` : '';
}

/** The entries of a journal; throws when the stream ends before the end entry. */
async function* entriesOf(res: IncomingMessage): AsyncGenerator<JournalEntry> {
  try {
    for await (const line of linesOf(res)) {
      // A sign of life.
      if (line === '') continue;
      const entry = JSON.parse(line) as JournalEntry;
      yield entry;
      if (entry.type === 'end') return;
    }
  } catch (error) {
    throw unavailable(error as Error);
  } finally {
    res.destroy();
  }
  throw unavailable(new Error('the journal broke off'));
}

async function textOf(res: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of res) parts.push(part as Buffer);
  } catch (error) {
    throw unavailable(error as Error);
  }
  return Buffer.concat(parts).toString();
}

async function refusal(res: IncomingMessage): Promise<RunnerError> {
  const text = await textOf(res);
  try {
    const { code, message } = (JSON.parse(text) as { error: { code: string; message: string } }).error;
    return new RunnerError(res.statusCode ?? 500, code, message);
  } catch {
    return new RunnerError(res.statusCode ?? 500, 'internal', 'The runner gave no readable answer.');
  }
}

const unavailable = (cause: Error): RunnerError =>
  cause instanceof RunnerError
    ? cause
    : new RunnerError(503, 'unavailable', `The runner does not answer: ${cause.message}`, { cause });
