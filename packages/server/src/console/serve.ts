/** `/console/`: static files and one page, outside of the rate limit. Knows no domain. */
import { randomBytes } from 'node:crypto';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { ApiError, noSuchPath } from '../http/errors.ts';
import { matchesEtag } from '../http/etag.ts';
import { refuseOtherMethods } from '../http/refuse-methods.ts';
import { NotBuilt, readConsole } from './files.ts';
import type { BuiltConsole } from './files.ts';
import { ASSET_POLICY, PAGE_POLICY, pagePolicy } from './policy.ts';

export interface ConsolePlace {
  /** `dist` of packages/console. */
  folder: string;
  /** A source of Content-Security-Policy: where the previews are that the console frames. */
  previews: () => string;
}

const NONCE_BYTES = 16;
/**
 * What a signed-in page asks for first. It is on its way while the page's scripts start: `src/api/early.ts` there takes
 * it. Without a cookie nobody is signed in. The feed of apps is not for every organization.
 */
const EARLY = ['/api/session', '/api/events/head']
  .map((path) => `<link rel="preload" as="fetch" crossorigin href="${path}">`)
  .join('');

const READ = ['GET', 'HEAD'] as const;

/** Answers `/console/` and what is below, and leads browsers there from `/`. */
export function serveConsole(app: FastifyInstance, { folder, previews }: ConsolePlace): void {
  const kept = new KeptConsole(folder);
  // Not at the first request: a set-up before it could have put a newer console there than this service's.
  app.addHook('onReady', async () => {
    await kept.read().catch(() => {});
  });
  const page: RouteHandlerMethod = async (request, reply) => {
    const built = await kept.read().catch((error: unknown) => sayNotBuilt(error, request, reply));
    if (!built) return reply;
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const early = request.headers.cookie === undefined ? '' : EARLY;
    return reply
      .headers({ ...PAGE_POLICY, 'content-security-policy': pagePolicy(nonce, previews()) })
      .type('text/html; charset=utf-8')
      .send(built.page.join(nonce).replace('</head>', `${early}</head>`));
  };
  const uncounted = { isUncounted: true };
  for (const url of ['/console', '/console/*']) {
    app.route({ method: [...READ], url, config: uncounted, handler: page });
    refuseOtherMethods(app, url, READ);
  }
  app.route({
    method: [...READ],
    url: '/console/assets/*',
    // Already compressed, or not worth it.
    compress: false,
    config: uncounted,
    handler: (request, reply) => sendAsset(kept, request, reply),
  });
  refuseOtherMethods(app, '/console/assets/*', READ);
  app.route({
    method: [...READ],
    url: '/',
    handler: async (request, reply) => {
      void reply.header('vary', 'accept, accept-encoding');
      if (prefersHtml(request)) return reply.redirect('/console/', 302);
      throw noSuchPath();
    },
  });
}

/**
 * The console of the service's start, or else of the first request that finds one, whole and as long as the process
 * lives: pages of another version than the service's would call what it does not have, and a page's later chunks have
 * to be of its own build. All encodings of a build take a few megabytes.
 */
class KeptConsole {
  readonly #folder: string;
  #reading: Promise<BuiltConsole> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(): Promise<BuiltConsole> {
    if (this.#reading) return this.#reading;
    const reading = readConsole(this.#folder);
    this.#reading = reading;
    reading.catch(() => (this.#reading = undefined));
    return reading;
  }
}

async function sendAsset(
  kept: KeptConsole,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const built = await kept.read().catch(refuseNotBuilt);
  // A name that the build has, or nothing: no path is made of what is asked.
  const asset = built.assets.get((request.params as { '*': string })['*']);
  if (!asset)
    throw new ApiError('not_found', 'There is no such file in this version of the console. Reload the page.');
  const encoding =
    negotiate(request.headers['accept-encoding'] ?? 'identity', [...asset.encodings.keys()]) ?? 'identity';
  const { bytes, etag } = asset.encodings.get(encoding)!;
  void reply.headers({ ...ASSET_POLICY, etag });
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== 'identity') void reply.header('content-encoding', encoding);
  return reply.type(asset.type).send(bytes);
}

const prefersHtml = ({ headers }: FastifyRequest) =>
  negotiate(headers.accept ?? '', ['application/json', 'text/html']) === 'text/html';

function refuseNotBuilt(error: unknown): never {
  if (!(error instanceof NotBuilt)) throw error;
  throw new ApiError(
    'unavailable',
    error.reason === null ? error.message : `${error.message}\n${error.reason}`,
  );
}

/** A person reads it as a page, a program as an error. */
function sayNotBuilt(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof NotBuilt) || !prefersHtml(request)) return refuseNotBuilt(error);
  void reply
    .code(503)
    .headers({ 'content-security-policy': "default-src 'none'; frame-ancestors 'none'", 'retry-after': '5' })
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Headrace</title><h1>No console</h1><p>${escapeHtml(error.message)}</p>${error.reason === null ? '' : `<pre>${escapeHtml(error.reason)}</pre>`}<p>The API works without it: <a href="/docs">/docs</a></p></html>`,
    );
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
