import { maySee } from '../../shared/roles.js';
import { queueOf } from '../../shared/waiting-list.js';
import { notFound } from '../errors.js';
import { find } from '../input.js';
import { ofTool } from '../services/queries.js';
import { joinLine, leaveLine } from '../services/waiting.js';
import { namedView } from '../views.js';

function line(request, ctx) {
  const tool = find(ctx.store.tools, request.params.id);
  return { status: 200, body: queueOf(ofTool(ctx.store.waiting, tool.id)).map((one) => namedView(ctx, one)) };
}

function join(request, ctx) {
  const tool = find(ctx.store.tools, request.params.id);
  return { status: 201, body: namedView(ctx, joinLine(ctx, tool, request.member)) };
}

function leave(request, ctx) {
  const entry = find(ctx.store.waiting, request.params.id);
  if (!maySee(request.member, entry.memberId)) throw notFound();
  return { status: 200, body: namedView(ctx, leaveLine(ctx, entry)) };
}

export const routes = [
  { method: 'GET', path: '/api/tools/:id/waiting', allow: 'staff', handle: line },
  { method: 'POST', path: '/api/tools/:id/waiting', allow: 'member', handle: join },
  { method: 'DELETE', path: '/api/waiting/:id', allow: 'member', handle: leave },
];
