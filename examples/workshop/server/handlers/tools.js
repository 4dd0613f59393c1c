import { isActive } from '../../shared/loan-rules.js';
import { takenRanges } from '../../shared/reservation-rules.js';
import { toolSchema } from '../../shared/schemas.js';
import { searchTools } from '../../shared/search.js';
import { invalid, refused } from '../errors.js';
import { find, pageOf, read } from '../input.js';
import { ofTool } from '../services/queries.js';
import { toolView } from '../views.js';

function list(request, ctx) {
  const { query } = request;
  const wanted = (name, test) => (query.get(name) ? test(query.get(name)) : () => true);
  const inCategory = wanted('category', (id) => (tool) => tool.category === id);
  const isFree = wanted('available', () => (tool) => tool.availability === 'available');
  const listed = ctx.store.tools.where((tool) => tool.condition !== 'retired' && inCategory(tool));
  const found = searchTools(listed, query.get('q') ?? '').map((tool) => toolView(ctx, tool)).filter(isFree);
  return { status: 200, body: pageOf(found, query) };
}

function show(request, ctx) {
  const tool = find(ctx.store.tools, request.params.id);
  const taken = takenRanges(ofTool(ctx.store.loans, tool.id), ofTool(ctx.store.reservations, tool.id));
  return { status: 200, body: { ...toolView(ctx, tool), taken } };
}

function readTool(request, ctx) {
  const tool = read(toolSchema, request.body);
  if (!ctx.store.categories.get(tool.category)) throw invalid({ category: 'invalid.choice' });
  return tool;
}

function add(request, ctx) {
  const fields = readTool(request, ctx);
  const tool = ctx.store.transaction(() => ctx.store.tools.insert(fields));
  return { status: 201, body: toolView(ctx, tool) };
}

function change(request, ctx) {
  const tool = find(ctx.store.tools, request.params.id);
  const fields = readTool(request, ctx);
  const lent = ofTool(ctx.store.loans, tool.id).some(isActive);
  if (lent && fields.condition === 'retired') throw refused(['rule.alreadyLent']);
  return { status: 200, body: toolView(ctx, ctx.store.transaction(() => ctx.store.tools.update(tool.id, fields))) };
}

export const routes = [
  { method: 'GET', path: '/api/tools', allow: 'visitor', handle: list },
  { method: 'POST', path: '/api/tools', allow: 'staff', handle: add },
  { method: 'GET', path: '/api/tools/:id', allow: 'visitor', handle: show },
  { method: 'PUT', path: '/api/tools/:id', allow: 'staff', handle: change },
];
