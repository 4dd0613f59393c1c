/** The API's composition: with worker.ts the only file that imports every domain. */
import type { FastifyInstance } from 'fastify';
import { createAuthenticator } from './accounts/index.ts';
import { routes as accountRoutes } from './accounts/routes.ts';
import { routes as applyRoutes } from './applies/routes.ts';
import { routes as approvalRoutes } from './approvals/routes.ts';
import { routes as auditRoutes } from './audit/routes.ts';
import { routes as automationRoutes } from './automations/routes.ts';
import { routes as checkpointRoutes } from './checkpoints/routes.ts';
import { routes as buildRoutes } from './builds/routes.ts';
import { serveConsole } from './console/serve.ts';
import type { Context } from './context.ts';
import { routes as editRoutes } from './edits/routes.ts';
import { routes as environmentRoutes } from './environment/routes.ts';
import { routes as eventRoutes } from './events/routes.ts';
import { routes as execRoutes } from './execs/routes.ts';
import { HostHub } from './hosts/index.ts';
import { routes as hostRoutes } from './hosts/routes.ts';
import { routes as healthRoutes } from './health/routes.ts';
import type { Route } from './http/operation.ts';
import { createHttpServer } from './http/server.ts';
import { routes as mcpServerRoutes } from './mcp-servers/routes.ts';
import { routes as messageRoutes } from './messages/routes.ts';
import { routes as operationRoutes } from './operations/routes.ts';
import { sourceOfAll } from './previews/address.ts';
import { HostProxy } from './previews/proxy.ts';
import { routes as previewRoutes } from './previews/routes.ts';
import { routes as projectRoutes } from './projects/routes.ts';
import { routes as pullRequestRoutes } from './pull-requests/routes.ts';
import { writeOnce } from './receipts/receipts.ts';
import { writeClaimed } from './receipts/write-claimed.ts';
import { routes as runRoutes } from './runs/routes.ts';
import { routes as scmRoutes } from './scm/routes.ts';
import { routes as settingsRoutes } from './settings/routes.ts';
import { serveGit } from './scm/index.ts';
import { routes as setupRoutes } from './setups/routes.ts';
import { routes as skillRoutes } from './skills/routes.ts';
import { routes as sourceRoutes } from './sources/routes.ts';
import { routes as systemRoutes } from './system/routes.ts';
import { routes as taskRoutes } from './tasks/routes.ts';
import { routes as threadRoutes } from './threads/routes.ts';
import { routes as usageRoutes } from './usage/routes.ts';
import { routes as webhookRoutes } from './webhooks/routes.ts';
import { routes as workspaceRoutes } from './workspaces/routes.ts';

/** Every route of the service, in the order of the document. */
export const routes: Route[] = [
  ...projectRoutes,
  ...sourceRoutes,
  ...threadRoutes,
  ...messageRoutes,
  ...runRoutes,
  ...checkpointRoutes,
  ...applyRoutes,
  ...editRoutes,
  ...execRoutes,
  ...pullRequestRoutes,
  ...taskRoutes,
  ...automationRoutes,
  ...approvalRoutes,
  ...buildRoutes,
  ...previewRoutes,
  ...workspaceRoutes,
  ...eventRoutes,
  ...settingsRoutes,
  ...environmentRoutes,
  ...setupRoutes,
  ...skillRoutes,
  ...operationRoutes,
  ...usageRoutes,
  ...mcpServerRoutes,
  ...webhookRoutes,
  ...hostRoutes,
  ...scmRoutes,
  ...accountRoutes,
  ...auditRoutes,
  ...systemRoutes,
  ...healthRoutes,
];

export async function createApp(ctx: Context): Promise<FastifyInstance> {
  const { authenticate, authenticateGit, close } = createAuthenticator(ctx);
  const hosts = new HostHub(ctx);
  const app = await createHttpServer(ctx, {
    routes,
    authenticate: (headers, address, url) =>
      (url.startsWith('/git/') ? authenticateGit : authenticate)(headers, address),
    receipts: { writeClaimed, writeOnce },
    preview: new HostProxy(ctx),
    upgrades: hosts,
  });
  serveGit(app, ctx);
  if (ctx.config.consoleFolder !== null)
    serveConsole(app, { folder: ctx.config.consoleFolder, previews: () => sourceOfAll(ctx) });
  app.addHook('onClose', close);
  app.addHook('preClose', () => hosts.close());
  return app;
}
