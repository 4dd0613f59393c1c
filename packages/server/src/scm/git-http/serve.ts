/**
 * `/git/<name>.git`: the built-in provider's repositories for git's clients, by git's own `http-backend`. Bytes flow
 * both ways at the pace of the slower side; nothing of a pack is kept in this process.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import type { AdmittedRequest } from '../../http/admission.ts';
import { requireCapability } from '../../http/capabilities.ts';
import { ApiError } from '../../http/errors.ts';
import { Places } from '../../http/places.ts';
import { may } from '../../http/principal.ts';
import type { Principal } from '../../http/principal.ts';
import { openLocalFolder } from '../local/repository-folder.ts';
import { SERVICES, startBackend } from './backend.ts';
import type { Backend, Service } from './backend.ts';
import { checkBody, sendBody } from './body.ts';
import { findRepository } from './find-repository.ts';
import { Push } from './push.ts';

/** A clone takes as long as its line; one that moves nothing gives its place to others. */
const LIMITS = { ms: 30 * 60_000, idleMs: 2 * 60_000 };
const BOUNDS = { what: 'clones, fetches and pushes', all: 16, each: 8, waiting: 64, waitMs: 30_000 };
/** What a client has and wants; git itself takes no more of it. */
const MAX_FETCH_BYTES = 10 * 1024 * 1024;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const PERMISSION: Record<Service, string> = {
  'git-upload-pack': 'repo:read',
  'git-receive-pack': 'repo:update',
};

/** Adds the routes. Nothing but git reads their bodies. */
export function serveGit(app: FastifyInstance, ctx: Context): void {
  const server = new GitServer(ctx);
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    addRoute(scope, { path: 'info/refs', methods: ['GET', 'HEAD'] }, (request, reply) => {
      const { service } = request.query as { service?: unknown };
      const found = SERVICES.find((one) => one === service);
      if (!found) throw notThere();
      return server.advertise(request, reply, found);
    });
    for (const service of SERVICES)
      addRoute(scope, { path: service, methods: ['POST'] }, (request, reply) =>
        server.exchange(request, reply, service),
      );
    done();
  });
}

type Handler = (request: AdmittedRequest, reply: FastifyReply) => Promise<FastifyReply>;

function addRoute(
  scope: FastifyInstance,
  { path, methods }: { path: string; methods: string[] },
  handler: Handler,
): void {
  const url = `/git/:repository/${path}`;
  const allow = methods.join(', ');
  scope.route({ method: methods, url, handler });
  scope.route({
    method: METHODS.filter((method) => !methods.includes(method)),
    url,
    handler: async () => {
      throw new ApiError('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });
    },
  });
}

const notThere = () => new ApiError('repository_not_found', 'There is no such repository.');

/** Throws 401, 402 or 403 where the caller may not use the service, whatever the repository. */
function callerOf(ctx: Context, { principal, refusal, url }: AdmittedRequest, service: Service): Principal {
  // `/%67it/` leads here, too, but its caller was found as that of any other path: by a browser's cookie.
  if (!url.startsWith('/git/')) throw notThere();
  if (refusal?.status === 401)
    throw new ApiError(
      'unauthorized',
      'Send a service key as the password of Basic authentication, with any user name.',
      {
        headers: { 'www-authenticate': 'Basic realm="Headrace", charset="UTF-8"' },
      },
    );
  if (refusal) throw refusal;
  if (!may(principal!, PERMISSION[service]))
    throw new ApiError('forbidden', `This takes the permission ${PERMISSION[service]}.`);
  requireCapability(ctx.config, principal!, 'sourceControl');
  return principal!;
}

class GitServer {
  readonly #ctx: Context;
  readonly #places = new Places(BOUNDS);

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** The references of a repository, with which both services begin. */
  async advertise(request: AdmittedRequest, reply: FastifyReply, service: Service): Promise<FastifyReply> {
    const { backend } = await this.#open(request, reply, { service, isAdvertisement: true });
    backend.input.end();
    return answer(reply, backend, backend.output);
  }

  /** A fetch or a push. The answer begins when the whole body has come: until then it can be a refusal. */
  async exchange(request: AdmittedRequest, reply: FastifyReply, service: Service): Promise<FastifyReply> {
    const isPush = service === 'git-receive-pack';
    const limit = isPush ? this.#ctx.config.scm.maxPushBytes : MAX_FETCH_BYTES;
    callerOf(this.#ctx, request, service);
    if (request.headers['content-type'] !== `application/x-${service}-request`)
      throw new ApiError('unsupported_media_type', `Send application/x-${service}-request.`);
    checkBody(request.raw, limit);
    const { backend, push } = await this.#open(request, reply, { service, isAdvertisement: false });
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
    const sent = sendBody(request.raw, backend.input, limit);
    const recorded = push?.run(backend, sent);
    recorded?.catch(() => undefined);
    try {
      await sent;
    } catch (error) {
      backend.stop(error as Error);
      await backend.ended;
      throw error;
    }
    const output = recorded ? Readable.from(until(recorded, backend), { objectMode: false }) : backend.output;
    return answer(reply, backend, output);
  }

  /** Starts git for a repository that the caller sees, in a place that is given back when git has ended. */
  async #open(
    request: AdmittedRequest,
    reply: FastifyReply,
    asked: { service: Service; isAdvertisement: boolean },
  ): Promise<{ backend: Backend; push: Push | null }> {
    const { config, db, shutdown } = this.#ctx;
    const principal = callerOf(this.#ctx, request, asked.service);
    const { repository: address } = request.params as { repository: string };
    const repository = await findRepository(db, principal, address);
    if (!repository) throw notThere();
    const leaving = AbortSignal.any([shutdown, goneOf(reply)]);
    const leave = await this.#places.take(repository.org_id, leaving);
    try {
      const dir = await openLocalFolder(config, repository);
      const protocol = request.headers['git-protocol'];
      leaving.throwIfAborted();
      const backend = await startBackend(
        { ...asked, dir, protocol: typeof protocol === 'string' ? protocol : undefined },
        LIMITS,
      );
      backend.ended.catch(() => undefined).finally(leave);
      const push =
        asked.service === 'git-receive-pack' && !asked.isAdvertisement
          ? new Push(this.#ctx, { dir, repository, by: { principal, address: request.ip } })
          : null;
      const stop = () => {
        if (push?.isMoving) backend.output.resume();
        else backend.stop(leaving.reason as Error);
      };
      leaving.addEventListener('abort', stop);
      if (leaving.aborted) stop();
      backend.ended.catch(() => undefined).finally(() => leaving.removeEventListener('abort', stop));
      return { backend, push };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** Aborted when the client goes before its answer is over. */
function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new ApiError('unavailable', 'The client has gone.'));
  });
  return gone.signal;
}

/** What git says, whose end waits for the record of what it moved. */
async function* until(recorded: Promise<void>, backend: Backend): AsyncGenerator<Buffer> {
  try {
    // git says the rest, too, where nobody hears it any more.
    yield* backend.output.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } finally {
    backend.output.resume();
  }
  await recorded;
  if (backend.stopped) throw backend.stopped;
}

async function answer(reply: FastifyReply, backend: Backend, output: Readable): Promise<FastifyReply> {
  const { status, type } = await backend.readHead();
  if (status !== 200) {
    const error = new Error(`git http-backend answers ${status}: ${backend.stderr.trim()}`);
    backend.stop(error);
    throw error;
  }
  return reply.code(200).header('content-type', type).send(output);
}
