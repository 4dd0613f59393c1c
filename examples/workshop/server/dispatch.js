import { createRouter } from './router.js';
import { forbidden, signInNeeded, toResult } from './errors.js';
import { mayAct } from '../shared/roles.js';
import { routes } from './routes.js';

// The seam between transport and rules: no node:http on this side of it. The preview
// backend in the page (web/preview-backend.js) calls the very same function.

const findRoute = createRouter(routes);

/**
 * Answers one API request.
 * @param {object} ctx store, today(), passwords, sessions
 * @param {{method: string, path: string, query: URLSearchParams, body?: unknown, token?: string}} request
 * @returns {Promise<{status: number, body?: unknown, csv?: string, filename?: string, token?: string | null}>}
 */
export async function dispatch(ctx, request) {
  try {
    const { route, params } = findRoute(request.method, request.path);
    const memberId = ctx.sessions.find(request.token);
    const member = memberId ? ctx.store.members.get(memberId) : null;
    if (!mayAct(member, route.allow)) throw member ? forbidden() : signInNeeded();
    return await route.handle({ ...request, params, member }, ctx);
  } catch (error) {
    const result = toResult(error);
    if (result.status === 500) ctx.log?.(error);
    return result;
  }
}
