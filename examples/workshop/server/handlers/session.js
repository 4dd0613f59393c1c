import { credentialsSchema } from '../../shared/schemas.js';
import { HttpError } from '../errors.js';
import { read } from '../input.js';
import { memberView } from '../views.js';

// One answer for an unknown address and for a wrong password: the form must not tell
// who is a member.
const wrong = () => new HttpError(401, 'error.wrongCredentials');

function signIn(request, ctx) {
  const { email, password } = read(credentialsSchema, request.body);
  if (ctx.throttle.blocked(email)) throw new HttpError(429, 'error.tooManyAttempts');
  const [member] = ctx.store.members.where((one) => one.email === email);
  if (!member || !ctx.passwords.verify(password, member.passwordHash)) {
    ctx.throttle.failed(email);
    throw wrong();
  }
  ctx.throttle.succeeded(email);
  return { status: 201, body: memberView(ctx, member), token: ctx.sessions.open(member.id) };
}

function signOut(request, ctx) {
  ctx.sessions.close(request.token);
  return { status: 204, token: null };
}

function whoAmI(request, ctx) {
  return { status: 200, body: request.member ? memberView(ctx, request.member) : null };
}

export const routes = [
  { method: 'GET', path: '/api/session', allow: 'visitor', handle: whoAmI },
  { method: 'POST', path: '/api/session', allow: 'visitor', handle: signIn },
  { method: 'DELETE', path: '/api/session', allow: 'visitor', handle: signOut },
];
