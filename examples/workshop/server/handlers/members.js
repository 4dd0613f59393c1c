import { memberSchema } from '../../shared/schemas.js';
import { maySee } from '../../shared/roles.js';
import { fold } from '../../shared/text.js';
import { invalid, notFound } from '../errors.js';
import { find, pageOf, read } from '../input.js';
import { ofMember } from '../services/queries.js';
import { loanView, memberView, namedView } from '../views.js';

function list(request, ctx) {
  const wanted = fold(request.query.get('q') ?? '');
  const found = ctx.store.members
    .where((member) => fold(`${member.name} ${member.email}`).includes(wanted))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return { status: 200, body: pageOf(found.map((member) => memberView(ctx, member)), request.query) };
}

function show(request, ctx) {
  const { id } = request.params;
  // Another member's page does not exist, rather than being forbidden: ids are guessable.
  if (!maySee(request.member, id)) throw notFound();
  const member = find(ctx.store.members, id);
  const newestFirst = ofMember(ctx.store.loans, id).sort((a, b) => (a.out > b.out ? -1 : 1));
  return {
    status: 200,
    body: {
      ...memberView(ctx, member),
      loans: newestFirst.map((loan) => loanView(ctx, loan)),
      reservations: ofMember(ctx.store.reservations, id).map((one) => namedView(ctx, one)),
      waiting: ofMember(ctx.store.waiting, id).map((one) => namedView(ctx, one)),
      fines: ofMember(ctx.store.fines, id).map((one) => namedView(ctx, one)),
    },
  };
}

function add(request, ctx) {
  const { password, ...fields } = read(memberSchema, request.body);
  if (ctx.store.members.where((member) => member.email === fields.email).length > 0) {
    throw invalid({ email: 'invalid.taken' });
  }
  const passwordHash = ctx.passwords.hash(password);
  const member = ctx.store.transaction(() =>
    ctx.store.members.insert({ ...fields, role: 'member', joined: ctx.today(), passwordHash }));
  return { status: 201, body: memberView(ctx, member) };
}

export const routes = [
  { method: 'GET', path: '/api/members', allow: 'staff', handle: list },
  { method: 'POST', path: '/api/members', allow: 'staff', handle: add },
  { method: 'GET', path: '/api/members/:id', allow: 'member', handle: show },
];
