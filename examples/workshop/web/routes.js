import { emptyState } from './components/notice.js';
import * as catalogue from './pages/catalogue.js';
import * as fines from './pages/fines.js';
import * as hours from './pages/hours.js';
import * as loans from './pages/loans.js';
import * as member from './pages/member.js';
import * as members from './pages/members.js';
import * as reports from './pages/reports.js';
import * as reservations from './pages/reservations.js';
import * as signIn from './pages/sign-in.js';
import * as tool from './pages/tool.js';

// `nav` puts a page into the header for those who may see it.
export const ROUTES = [
  { pattern: '/', page: catalogue, allow: 'visitor', nav: 'nav.catalogue' },
  { pattern: '/tools/:id', page: tool, allow: 'visitor' },
  { pattern: '/hours', page: hours, allow: 'visitor', nav: 'nav.hours' },
  { pattern: '/loans', page: loans, allow: 'member', nav: 'nav.loans' },
  { pattern: '/reservations', page: reservations, allow: 'member', nav: 'nav.reservations' },
  { pattern: '/fines', page: fines, allow: 'member', nav: 'nav.fines' },
  { pattern: '/members', page: members, allow: 'staff', nav: 'nav.members' },
  { pattern: '/members/:id', page: member, allow: 'member' },
  { pattern: '/reports', page: reports, allow: 'staff', nav: 'nav.reports' },
  { pattern: '/sign-in', page: signIn, allow: 'visitor' },
];

const notFound = {
  load: () => ({}),
  render: (_content, { t }) => emptyState(t('page.notFound')),
};

function match(pattern, path) {
  const names = pattern.split('/');
  const parts = path.split('/');
  if (names.length !== parts.length) return null;
  const params = {};
  for (const [index, name] of names.entries()) {
    if (name.startsWith(':')) params[name.slice(1)] = parts[index];
    else if (name !== parts[index]) return null;
  }
  return params;
}

/**
 * What a location hash such as `#/tools/t-3?page=2` shows. Addresses live in the hash,
 * so that the built page works below any path of any file host.
 */
export function resolveHash(hash) {
  const [path, query] = (hash.replace(/^#/, '') || '/').split('?');
  for (const route of ROUTES) {
    const params = match(route.pattern, path);
    if (params) return { route, params, query: new URLSearchParams(query), path };
  }
  return { route: { pattern: path, page: notFound, allow: 'visitor' }, params: {}, query: new URLSearchParams(), path };
}
