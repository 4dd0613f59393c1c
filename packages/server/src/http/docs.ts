import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { openapiDocument } from './openapi.ts';
import type { Route } from './operation.ts';

/** `/docs/openapi.json`, its stable alias `/openapi.json`, and the reference UI at `/docs`. Needs no key. */
export function serveDocs(app: FastifyInstance, version: string, routes: Route[]): void {
  const document = openapiDocument(routes, version);
  const text = JSON.stringify(document);
  app.get('/docs/openapi.json', async (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(text),
  );
  app.get('/openapi.json', async (_request, reply) => reply.redirect('/docs/openapi.json', 308));
  // The UI is 4 MB of script: loaded by the first person who opens it.
  let ui: Promise<FastifyInstance> | undefined;
  const serveUi = async (url: string) => (await (ui ??= createUi(document))).inject({ method: 'GET', url });
  for (const path of ['/docs', '/docs/', '/docs/js/scalar.js']) {
    app.get(path, async (_request, reply) => {
      const page = await serveUi(path);
      return reply
        .code(page.statusCode)
        .headers({
          'content-type': page.headers['content-type'] ?? 'text/html',
          ...(page.headers.location ? { location: page.headers.location } : {}),
        })
        .send(page.rawPayload);
    });
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
