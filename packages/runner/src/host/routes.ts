import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { pipeline } from 'node:stream/promises';
import type { Static, TSchema } from 'typebox';
import { RunnerError } from '../errors.ts';
import { check, fenceOf } from '../http/validate.ts';
import {
  AckRequest,
  BlobsRequest,
  CaptureRequest,
  PermissionAnswer,
  SIGN_OF_LIFE_MS,
  SteerRequest,
} from '../protocol.ts';
import { describe, type Folder } from './bindings.ts';
import { blobs, capture } from './capture.ts';
import { patch } from './patch.ts';
import { HostTurnRequest, HostWorkspace, type HostStatus } from './protocol.ts';
import type { HostTasks } from './tasks.ts';
import type { HostWorkspaces } from './workspaces.ts';

/** What this machine offers, and what is under way on it. */
export interface LocalHost {
  version: string;
  providers: HostStatus['providers'];
  share: HostStatus['share'];
  folders: readonly Folder[];
  workspaces: HostWorkspaces;
  tasks: HostTasks;
}

interface Call {
  host: LocalHost;
  id: string;
  part: string;
  query: URLSearchParams;
  req: Http2ServerRequest;
  res: Http2ServerResponse;
}
type Handler = (call: Call) => unknown;

/** A prompt with its attachments, and the conversation before it; all bodies together take no more than ALL_BYTES. */
const BODY_BYTES = 64 * 1024 ** 2,
  ALL_BYTES = 128 * 1024 ** 2;
let held = 0;

/** `METHOD /path` with :id and :part: all that a host does. The value is the JSON answer; undefined is 204, or an answer already sent. */
const ROUTES: Record<string, Handler> = {
  'GET /status': async ({ host }): Promise<HostStatus> => ({
    version: host.version,
    providers: host.providers,
    share: host.share,
    bindings: await Promise.all(host.folders.map(describe)),
    tasks: host.tasks.states(),
    workspaces: host.workspaces.ids(),
  }),

  'PUT /workspaces/:id': async ({ host, id, req }) => {
    const wanted = await readBody(req, HostWorkspace);
    host.workspaces.admit(id, fenceOf(req));
    const headCommit = await host.workspaces.put(id, wanted);
    host.workspaces.admit(id, fenceOf(req));
    return { headCommit };
  },
  'GET /workspaces/:id': ({ host, id }) => ({ exists: host.workspaces.has(id), base: null }),
  'DELETE /workspaces/:id': async ({ host, id, req }) => {
    host.workspaces.admit(id, fenceOf(req));
    await host.tasks.cancelAll(id);
    await host.workspaces.remove(id);
  },
  'POST /workspaces/:id/capture': async ({ host, id, req }) => {
    const { basePaths } = await readBody(req, CaptureRequest);
    const workspace = host.workspaces.get(id);
    return host.workspaces.use(workspace, 'capture', () => capture(workspace, basePaths));
  },
  'POST /workspaces/:id/blobs': async ({ host, id, req, res }) => {
    const { paths } = await readBody(req, BlobsRequest);
    const workspace = host.workspaces.get(id);
    await host.workspaces.use(workspace, 'blobs', async () => {
      const archive = await blobs(workspace, paths);
      res.writeHead(200, { 'content-type': 'application/x-tar' });
      // A pipeline into `res` itself never ends where the stream has closed before.
      await pipeline(archive, res.stream);
    });
  },
  'POST /workspaces/:id/patch': async ({ host, id, req }) => {
    host.workspaces.admit(id, fenceOf(req));
    const workspace = host.workspaces.get(id);
    if (workspace.mode !== 'worktree')
      throw new RunnerError(409, 'unsupported_on_host', 'Only worktrees are restored.');
    await host.workspaces.use(workspace, 'patch', async () => {
      workspace.captured = null;
      await patch(workspace.folder, host.workspaces.stagedFor(workspace), req);
    });
  },

  'POST /tasks/:id': async ({ host, id, req, res }) => {
    const request = await readBody(req, HostTurnRequest);
    host.workspaces.admit(request.workspaceId, fenceOf(req));
    res.statusCode = host.tasks.start(id, request) ? 201 : 200;
    return host.tasks.state(id);
  },
  'GET /tasks/:id': ({ host, id }) => host.tasks.state(id),
  'DELETE /tasks/:id': ({ host, id, req }) => {
    const workspaceId = host.tasks.workspaceOf(id);
    if (workspaceId !== undefined) host.workspaces.admit(workspaceId, fenceOf(req));
    return host.tasks.remove(id);
  },
  'GET /tasks/:id/journal': ({ host, id, query, res }) =>
    sendJournal(host, { id, from: query.get('from') }, res),
  'POST /tasks/:id/ack': async ({ host, id, req }) => {
    const { offset } = await readBody(req, AckRequest);
    host.tasks.journal(id).ack(offset);
  },
  'POST /tasks/:id/cancel': ({ host, id }) => host.tasks.cancel(id),
  'POST /tasks/:id/permissions/:part': async ({ host, id, part, req }) => {
    const { allow } = await readBody(req, PermissionAnswer);
    host.tasks.living(id).answerPermission(part, allow);
  },
  'POST /tasks/:id/steer': async ({ host, id, req }) => {
    const message = await readBody(req, SteerRequest);
    await host.tasks.living(id).steer(message);
  },
};

/** Answers one request of the service; whatever it is, it throws nothing. */
export async function answer(
  host: LocalHost,
  req: Http2ServerRequest,
  res: Http2ServerResponse,
): Promise<void> {
  try {
    const { key, ...place } = address(req);
    const handler = Object.hasOwn(ROUTES, key) ? ROUTES[key] : undefined;
    if (!handler) throw notFound();
    const value = await handler({ host, ...place, req, res });
    if (res.headersSent) return;
    if (value === undefined) res.statusCode = 204;
    else res.setHeader('content-type', 'application/json');
    res.end(value === undefined ? '' : JSON.stringify(value));
  } catch (error) {
    refuse(res, error);
  }
}

const notFound = (): RunnerError => new RunnerError(404, 'not_found', 'A host does not do that.');

/** The ids become names of files. Throws `not_found` 404. */
function address(req: Http2ServerRequest): Pick<Call, 'id' | 'part' | 'query'> & { key: string } {
  const [path = '', query = ''] = req.url.split('?', 2);
  const [, top = '', id, action, part, ...more] = path.split('/');
  for (const name of [id, part]) if (name !== undefined && !/^[\w-]{1,128}$/.test(name)) throw notFound();
  if (more.length > 0) throw notFound();
  const key =
    `${req.method} /${top}` +
    (id === undefined ? '' : '/:id') +
    (action === undefined ? '' : `/${action}`) +
    (part === undefined ? '' : '/:part');
  return { key, id: id ?? '', part: part ?? '', query: new URLSearchParams(query) };
}

function refuse(res: Http2ServerResponse, error: unknown): void {
  // The connection is gone, or part of an answer is on its way.
  if (res.headersSent || res.stream.closed) {
    res.stream.close();
    return;
  }
  const known =
    error instanceof RunnerError
      ? error
      : new RunnerError(500, 'internal', 'The host failed; its terminal says how.');
  if (known.status >= 500) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  const { status, code, message } = known;
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ error: { code, message } }));
}

/** A request's JSON body. Throws `invalid_request` 400, `too_large` 413, `busy` 503. */
async function readBody<S extends TSchema>(req: Http2ServerRequest, schema: S): Promise<Static<S>> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of req as AsyncIterable<Buffer>) {
      size += part.length;
      held += part.length;
      if (size > BODY_BYTES) throw new RunnerError(413, 'too_large', 'The body is too large.');
      if (held > ALL_BYTES) throw new RunnerError(503, 'busy', 'There are too many large requests.');
      parts.push(part);
    }
    return check(schema, parsed(Buffer.concat(parts).toString()));
  } finally {
    held -= size;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RunnerError(400, 'invalid_request', 'The body is not JSON.');
  }
}

/** Entries as they arrive, up to the end, and an empty line now and then. */
async function sendJournal(
  host: LocalHost,
  { id, from }: { id: string; from: string | null },
  res: Http2ServerResponse,
): Promise<void> {
  if (from !== null && !/^\d{1,15}$/.test(from))
    throw new RunnerError(400, 'invalid_request', 'from is no offset.');
  const journal = host.tasks.journal(id);
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const timer = setInterval(() => res.writableNeedDrain || res.write('\n'), SIGN_OF_LIFE_MS);
  try {
    for await (const entry of journal.read(Number(from ?? 0), gone.signal))
      if (!res.write(`${JSON.stringify(entry)}\n`)) await drained(res, gone.signal);
  } finally {
    clearInterval(timer);
  }
  res.end();
}

function drained(res: Http2ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    res.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
