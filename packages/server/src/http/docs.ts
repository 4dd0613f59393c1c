import { promisify } from 'node:util';
import { brotliCompress, gzip, zstdCompress } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify';
import { COMPRESSED_BYTES } from './compression.ts';
import { openapiDocument } from './openapi.ts';
import type { Route } from './operation.ts';

/** The reference UI: the same bytes for everybody, outside of the rate limit. */
export const STATIC_PATHS = ['/docs', '/docs/', '/docs/js/scalar.js'];

interface Page {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
}

const IDENTITY = 'identity';
const COMPRESS: Record<string, (bytes: Buffer) => Promise<Buffer>> = {
  zstd: promisify(zstdCompress),
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
  [IDENTITY]: async (bytes) => bytes,
};
const PUBLIC = { 'cache-control': 'public, max-age=60' };

/** `/docs/openapi.json`, its stable alias `/openapi.json`, and the reference UI at `/docs`. Needs no key. */
export function serveDocs(app: FastifyInstance, version: string, routes: Route[]): void {
  // A quarter of a start's CPU time: made for the first caller who asks for it.
  const document = () => openapiDocument(routes, version);
  const pages = new Pages();
  const serve = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, handler });
  serve('/docs/openapi.json', (_request, reply) =>
    pages.send(reply, '/docs/openapi.json', async () => ({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      bytes: Buffer.from(JSON.stringify(document())),
    })),
  );
  serve('/openapi.json', async (_request, reply) =>
    reply.headers(PUBLIC).redirect('/docs/openapi.json', 308),
  );
  // The UI is 4 MB of script: loaded by the first person who opens it.
  let ui: Promise<FastifyInstance> | undefined;
  const loadUi = () => (ui ??= createUi(document()));
  for (const path of STATIC_PATHS)
    serve(path, (_request, reply) =>
      pages.send(reply, path, async () => {
        const page = await (await loadUi()).inject({ method: 'GET', url: path });
        const { location } = page.headers;
        return {
          status: page.statusCode,
          headers: {
            'content-type': page.headers['content-type'] ?? 'text/html',
            ...(location === undefined ? {} : { location }),
          },
          bytes: page.rawPayload,
        };
      }),
    );
}

/**
 * Pages that anybody may ask for as often as they like: each is made once, and compressed once in each
 * encoding.
 */
class Pages {
  readonly #made = new Map<string, Promise<Page>>();
  readonly #packed = new Map<string, Promise<Buffer>>();

  async send(reply: FastifyReply, path: string, make: () => Promise<Page>): Promise<FastifyReply> {
    const page = await this.#once(this.#made, path, make);
    const asked = reply.request.headers['accept-encoding'];
    const encoding =
      page.bytes.length < COMPRESSED_BYTES
        ? IDENTITY
        : (negotiate(asked ?? IDENTITY, Object.keys(COMPRESS)) ?? IDENTITY);
    const bytes = await this.#once(this.#packed, `${encoding} ${path}`, () =>
      COMPRESS[encoding]!(page.bytes),
    );
    return reply
      .code(page.status)
      .headers({
        ...PUBLIC,
        ...page.headers,
        ...(encoding === IDENTITY ? {} : { 'content-encoding': encoding }),
      })
      .send(bytes);
  }

  #once<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
    const found = known.get(name);
    if (found) return found;
    const made = make();
    known.set(name, made);
    // What failed is tried again.
    made.catch(() => known.delete(name));
    return made;
  }
}

async function createUi(document: Record<string, unknown>): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      content: document,
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
    openApiDocumentEndpoints: { json: '/openapi.json', yaml: '/openapi.yaml' },
  } as never);
  return app;
}
