import { routes as categories } from './handlers/categories.js';
import { routes as exports } from './handlers/exports.js';
import { routes as fines } from './handlers/fines.js';
import { routes as hours } from './handlers/hours.js';
import { routes as loans } from './handlers/loans.js';
import { routes as members } from './handlers/members.js';
import { routes as reports } from './handlers/reports.js';
import { routes as reservations } from './handlers/reservations.js';
import { routes as session } from './handlers/session.js';
import { routes as tools } from './handlers/tools.js';
import { routes as waiting } from './handlers/waiting.js';

// What a page asks first: is there a server, and which day is it there?
const health = {
  method: 'GET',
  path: '/api/health',
  allow: 'visitor',
  handle: (_request, ctx) => ({ status: 200, body: { ok: true, today: ctx.today() } }),
};

export const routes = [
  health,
  ...session,
  ...categories,
  ...tools,
  ...hours,
  ...members,
  ...loans,
  ...reservations,
  ...waiting,
  ...fines,
  ...reports,
  ...exports,
];
