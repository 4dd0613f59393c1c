/** What a caller may call at all, before the operation looks at the resource that the call names. */
import type { FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';
import type { Access, Call } from './operation.ts';
import { may, seesProject } from './principal.ts';
import type { Principal } from './principal.ts';

/** By rising rights. `user`: a session, in whatever organization. */
const RANK = { user: 0, member: 1, admin: 2, owner: 3 } as const;

/** Throws 401 or 403 when the caller may not call the operation, whatever it asks for. */
export function authorize(
  access: Access,
  principal: Principal,
  api: 'platform' | 'direct',
  params: Record<string, string>,
): void {
  if (access === 'public') return;
  if (api === 'platform' && !principal.platformApi)
    throw new ApiError('forbidden', 'This organization has no access to the Platform API.');
  if (access === 'authenticated') return;
  if ('session' in access) return requireSession(access, principal);
  requirePermissions({ principal, api }, access.permissions);
  if (access.unrestricted && principal.projectIds !== null)
    throw refusal({ principal, api }, 'A key that is restricted to projects may not do this.');
  if (api === 'platform' && params.appId !== undefined && !seesProject(principal, params.appId))
    throw new ApiError('forbidden', 'This key is restricted to other apps.');
}

type Caller = Pick<Call, 'principal' | 'api'>;

const refusal = ({ principal, api }: Caller, message: string) =>
  new ApiError(api === 'platform' || principal.kind === 'session' ? 'forbidden' : 'unauthorized', message);

/** Throws 401 or 403 where the caller lacks one: also for what only some bodies of an operation take. */
export function requirePermissions(caller: Caller, permissions: readonly string[]): void {
  const missing = permissions.filter((permission) => !may(caller.principal, permission));
  if (missing.length) throw refusal(caller, `This takes the permission ${missing.join(' and ')}.`);
}

/** A browser session of at least this rank, and where that is asked for, the operator's. */
function requireSession(
  { session: least, operator }: Extract<Access, { session: unknown }>,
  principal: Principal,
): void {
  if (principal.kind === 'key')
    throw new ApiError('unauthorized', 'This takes a browser session; a service key is not enough.');
  if (RANK[principal.role ?? 'user'] < RANK[least])
    throw new ApiError('forbidden', `This takes the role ${least} in the organization.`);
  if (operator && principal.isOperator !== true)
    throw new ApiError('forbidden', 'This is for owners and admins of the first organization.');
}

/** Browsers send the session cookie from any page: a write has to come from one of ours. */
export function requireSameOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  if (typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === host) return;
  throw new ApiError('forbidden', 'A write by a browser session needs an Origin header of this service.');
}
