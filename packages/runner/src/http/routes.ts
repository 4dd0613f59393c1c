import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import Type from 'typebox';
import { basePathsOf, blobs, capture, captureChanges } from '../capture/capture.ts';
import { RunnerError } from '../errors.ts';
import { TEXT_TYPE } from '../metrics/metrics.ts';
import { Gateways, type GatewayDialer } from '../tasks/gateways.ts';
import { memoryLoad } from '../sandbox/memory-load.ts';
import {
  AckRequest,
  BlobsRequest,
  CaptureRequest,
  GatewayRequest,
  OverRequest,
  PermissionAnswer,
  SteerRequest,
} from '../protocol.ts';
import type { RunnerStatus, WorkspaceState } from '../protocol.ts';
import type { Host } from '../sandbox/host.ts';
import { placeWarnings } from '../sandbox/place.ts';
import type { Tasks } from '../tasks/tasks.ts';
import { noteSource } from '../git-baseline/git-baseline.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { readBody, readJson } from './body.ts';
import { JOURNAL_TYPE } from './remote.ts';
import { checkTaskRequest, fenceOf, groupOf, hasTar, onlyOf, originOf } from './validate.ts';

export interface Runner {
  host: Host;
  status: RunnerStatus;
  workspaces: Workspaces;
  tasks: Tasks;
  gateways: GatewayDialer;
}

/** What the runner says of itself now. */
export const statusOf = (runner: Runner): RunnerStatus => ({
  ...runner.status,
  limits: withWarnings(runner),
  egress: runner.tasks.egress.counters,
  restore: runner.workspaces.trees.restore,
  load: {
    ...memoryLoad(),
    sandboxes: runner.tasks.countAlive(),
  },
});

interface Call {
  runner: Runner;
  id: string;
  part: string;
  query: URLSearchParams;
  req: IncomingMessage;
  res: ServerResponse;
}
type Handler = (call: Call) => unknown;

const CaptureOrOver = Type.Union([OverRequest, CaptureRequest]);

/**
 * `METHOD /path` with :id and :part. The handler's value is the JSON answer; undefined is 204 (or an answer
 * already sent).
 */
const ROUTES: Record<string, Handler> = {
  'GET /status': ({ runner }) => statusOf(runner),
  'GET /metrics': async ({ runner, res }) => {
    res.setHeader('content-type', TEXT_TYPE).end(await runner.host.metrics.text());
  },

  'PUT /workspaces/:id': async ({ runner, id, query, req }) => {
    mayRun(runner);
    await runner.workspaces.put(id, hasTar(req) ? req : undefined, originOf(req, query), fenceOf(req));
  },
  'PUT /histories/:id': async ({ runner, id, query, req }) => {
    mayRun(runner);
    await runner.workspaces.trees.keepHistory({ key: id, group: groupOf(query) }, req);
  },
  'PUT /contexts/:id': async ({ runner, id, query, req }) => {
    mayRun(runner);
    await runner.workspaces.trees.keepContext({ key: id, group: groupOf(query) }, req);
  },
  'GET /workspaces': async ({ runner }) => ({ workspaces: await runner.workspaces.sizes() }),
  'GET /workspaces/:id': ({ runner, id }): WorkspaceState => ({
    exists: runner.workspaces.has(id),
    base: runner.workspaces.has(id) ? (runner.workspaces.get(id).tree.over?.source.key ?? null) : null,
  }),
  'GET /sources': ({ runner, query }) => ({ keys: runner.workspaces.trees.kept(query.get('group') ?? '') }),
  'GET /layers': ({ runner, query }) => ({ keys: runner.workspaces.trees.layers.keys(groupOf(query)) }),
  'DELETE /groups/:id': ({ runner, id }) => {
    runner.workspaces.trees.forget(id);
  },
  'GET /groups': ({ runner }) => ({ groups: runner.workspaces.trees.groups() }),
  'DELETE /workspaces/:id': async ({ runner, id, req }) => {
    runner.workspaces.admit(id, fenceOf(req));
    await Promise.all(
      runner.tasks
        .all()
        .filter((task) => task.workspaceId === id)
        .map((task) => task.cancel()),
    );
    // That may have taken long: another worker may have made the workspace again in the meantime.
    runner.workspaces.admit(id, fenceOf(req));
    runner.workspaces.remove(id);
  },
  'POST /workspaces/:id/capture': async ({ runner, id, req }) => {
    const workspace = runner.workspaces.get(id);
    const request = await readBody(req, CaptureOrOver);
    const basePaths = 'over' in request ? basePathsOf(workspace, request) : request.basePaths;
    if (!workspace.still) noteSource(workspace, basePaths);
    return runner.workspaces.use(workspace, 'capture', () =>
      ('over' in request ? captureChanges : capture)(runner.host, workspace, basePaths),
    );
  },
  'POST /workspaces/:id/blobs': async ({ runner, id, req, res }) => {
    const workspace = runner.workspaces.get(id);
    const { paths } = await readBody(req, BlobsRequest);
    await runner.workspaces.use(workspace, 'blobs', () =>
      pipeline(blobs(runner.host, workspace, paths), tarAnswer(res)),
    );
  },
  'POST /workspaces/:id/patch': async ({ runner, id, req }) => {
    runner.workspaces.admit(id, fenceOf(req));
    const workspace = runner.workspaces.get(id);
    await runner.workspaces.use(workspace, 'patch', () => runner.workspaces.trees.patch(workspace.tree, req));
  },

  'GET /tasks': ({ runner }) => ({ tasks: runner.tasks.all().map((task) => task.state()) }),
  'POST /tasks/:id': async ({ runner, id, req, res }) => {
    mayRun(runner);
    const request = checkTaskRequest(await readJson(req));
    if ('workspaceId' in request) runner.workspaces.admit(request.workspaceId, fenceOf(req));
    const { task, isNew } = runner.tasks.start(id, request);
    res.statusCode = isNew ? 201 : 200;
    return task.state();
  },
  'GET /tasks/:id': ({ runner, id }) => runner.tasks.get(id).state(),
  'DELETE /tasks/:id': ({ runner, id, req }) => {
    const workspaceId = runner.tasks.all().find((task) => task.id === id)?.workspaceId;
    if (workspaceId) runner.workspaces.admit(workspaceId, fenceOf(req));
    return runner.tasks.remove(id);
  },
  'GET /tasks/:id/journal': async ({ runner, id, query, res }) => {
    const { journal } = runner.tasks.get(id);
    const only = onlyOf(query);
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    // Not by writeHead, whose headers nobody can read: signs of life go by the type.
    res.setHeader('content-type', JOURNAL_TYPE).flushHeaders();
    const from = Number(query.get('from') ?? 0);
    const entries = only ? journal.readDraft(from, gone.signal) : journal.read(from, gone.signal);
    for await (const entry of entries) {
      // A Buffer: for strings the response counts bytes and its socket counts characters, and then `drain` is
      // never emitted.
      if (!res.write(Buffer.from(`${JSON.stringify(entry)}\n`))) await drained(res, gone.signal);
    }
    res.end();
  },
  'POST /tasks/:id/ack': async ({ runner, id, req }) => {
    const { journal } = runner.tasks.get(id);
    journal.ack((await readBody(req, AckRequest)).offset);
  },
  'POST /tasks/:id/cancel': ({ runner, id }) => runner.tasks.get(id).cancel(),
  'POST /tasks/:id/pause': ({ runner, id }) => runner.tasks.get(id).pause(),
  'POST /tasks/:id/resume': ({ runner, id }) => runner.tasks.get(id).resume(),
  'POST /tasks/:id/permissions/:part': async ({ runner, id, part, req }) => {
    const task = runner.tasks.get(id);
    task.answerPermission(part, (await readBody(req, PermissionAnswer)).allow);
  },
  'POST /tasks/:id/steer': async ({ runner, id, req }) => {
    const task = runner.tasks.get(id);
    await task.steer(await readBody(req, SteerRequest));
  },
  'PUT /tasks/:id/source': ({ runner, id, query, req }) => {
    const origin = { ...originOf(req, query), history: undefined };
    return runner.tasks.get(id).putSource(hasTar(req) ? req : undefined, origin);
  },
  'GET /tasks/:id/output': async ({ runner, id, res }) => {
    await pipeline(await runner.tasks.get(id).output(), tarAnswer(res));
  },

  'PUT /gateways/:id': async ({ runner: { gateways }, id, req }) => {
    // A runner on a node dials workers itself.
    if (!(gateways instanceof Gateways)) throw new RunnerError(404, 'not_found', 'There is no such route.');
    gateways.register(id, (await readBody(req, GatewayRequest)).socketPath);
  },
};

/** Finds the route of a request and runs it. Throws RunnerError 404 where there is none. */
export async function dispatch(runner: Runner, req: IncomingMessage, res: ServerResponse): Promise<unknown> {
  const { key, id, part, query } = address(req);
  const handler = ROUTES[key];
  if (!handler) throw new RunnerError(404, 'not_found', 'There is no such route.');
  return handler({ runner, id, part, query, req, res });
}

/** The route key of a request and its ids, which must be short and plain because they become folder names. */
export function address(req: IncomingMessage): {
  key: string;
  id: string;
  part: string;
  query: URLSearchParams;
} {
  const url = new URL(req.url ?? '/', 'http://runner');
  const [top = '', id = '', action = '', part = '', ...more] = url.pathname
    .slice(1)
    .split('/')
    .map(decodeURIComponent);
  if (more.length > 0 || (id !== '' && !/^[\w-]{1,100}$/.test(id)))
    throw new RunnerError(404, 'not_found', 'There is no such route.');
  const key = `${req.method} /${top}${id && '/:id'}${action && `/${action}`}${part && '/:part'}`;
  return { key, id, part, query: url.searchParams };
}

/** Fails closed: nothing enters a sandbox where the probe found none that isolates. */
function withWarnings({ status: { limits }, host, workspaces }: Runner): RunnerStatus['limits'] {
  // Only root mounts, and only for sandboxes that see it.
  const couldMount = host.uid !== null && host.driver?.seesMounts === true;
  const more = placeWarnings(host.place, couldMount && workspaces.trees.restore === 'copy');
  return { ...limits, warnings: [...limits.warnings, ...more] };
}

function mayRun({ status }: Runner): void {
  if (!status.ok)
    throw new RunnerError(503, 'no_sandbox', `Nothing can run here: ${status.missing.join('; ')}`);
}

function tarAnswer(res: ServerResponse): ServerResponse {
  return res.writeHead(200, { 'content-type': 'application/x-tar' });
}

function drained(res: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    res.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
