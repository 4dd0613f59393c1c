/** From a request's headers to its caller: a service key takes precedence over a session cookie. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../context.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { anonymous } from '../http/admission.ts';
import type { Authenticate } from '../http/admission.ts';
import { accessCache } from './access.ts';
import type { AccessName } from './access.ts';
import { credentialIdOf, hashKey, isServiceKey } from './keys.ts';
import { LastUse } from './last-use.ts';
import { hashToken, sessionCookieHeader, sessionTokenOf } from './session-cookie.ts';

const BEARER = /^bearer +(\S+) *$/i;
const BASIC = /^basic +([a-z0-9+/]+={0,2}) *$/i;

/** The keys that the headers carry: none, one, or two that differ. */
function keysOf(headers: IncomingHttpHeaders): string[] {
  const apiKey = headers['x-api-key'];
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1];
  return [
    ...new Set(
      [typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined, bearer].filter(
        (key) => key !== undefined,
      ),
    ),
  ];
}

/**
 * The headers of a git client as another would send them: the password of Basic, whatever its user, is a service
 * key or a session's token. A browser's own cookie does not count there: any page can have it sent.
 */
function withoutBasic(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const encoded = BASIC.exec(headers.authorization ?? '')?.[1];
  if (encoded === undefined) return { ...headers, cookie: undefined };
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const password = text.slice(text.indexOf(':') + 1);
  const cookie = sessionCookieHeader(password);
  const authorization = cookie === undefined ? `Bearer ${password}` : undefined;
  return { ...headers, authorization, cookie };
}

const wrongKey = () =>
  new ApiError(
    'unauthorized',
    'This service key is not valid: it is mistyped, expired, revoked, or its account is disabled.',
  );
const wrongSession = () => new ApiError('unauthorized', 'This session has ended. Sign in again.');
const nobody = () =>
  new ApiError('unauthorized', 'Send a service key in X-Api-Key or as Authorization: Bearer, or sign in.');
const suspended = () =>
  new ApiError(
    'forbidden',
    'Whoever last saved this service account is no longer an owner or admin. Another owner or admin has to save it.',
  );

type ByHeaders = (headers: IncomingHttpHeaders, address: string) => ReturnType<Authenticate>;

/** The authentication of a service's requests; see access.ts for how fast a change takes effect. */
export function createAuthenticator(ctx: Pick<Context, 'db' | 'bus' | 'log'>): {
  authenticate: ByHeaders;
  /** Of git's clients, which speak Basic. */
  authenticateGit: ByHeaders;
  /** Writes what is not written yet. */
  close(): Promise<void>;
} {
  const cache = accessCache(ctx);
  const lastUse = new LastUse(ctx);

  async function byKey(key: string, address: string): ReturnType<Authenticate> {
    const name: AccessName | null = isServiceKey(key) ? `key ${credentialIdOf(key)}` : null;
    const loaded = name && (await cache.lookUp(name, address));
    if (!loaded || loaded.verdict === 'unknown' || !timingSafeEqual(loaded.secretHash!, hashKey(key)))
      return { bucket: anonymous(address), refusal: wrongKey() };
    const bucket = `key ${loaded.principal!.credentialId}`;
    if (loaded.verdict === 'suspended') return { bucket, refusal: suspended() };
    lastUse.note(name);
    return { bucket, principal: loaded.principal! };
  }

  async function bySession(token: string, address: string): ReturnType<Authenticate> {
    const name: AccessName = `session ${hashToken(token).toString('hex')}`;
    const loaded = await cache.lookUp(name, address);
    if (!loaded?.principal) return { bucket: anonymous(address), refusal: wrongSession() };
    lastUse.note(name);
    return { bucket: `user ${loaded.principal.userId}`, principal: loaded.principal };
  }

  const authenticate: ByHeaders = async (headers, address) => {
    const [key, other] = keysOf(headers);
    if (other !== undefined)
      return {
        bucket: anonymous(address),
        refusal: invalid({
          path: '/headers/authorization',
          message: 'must be the same key as X-Api-Key; send one of them',
        }),
      };
    if (key !== undefined) return byKey(key, address);
    const token = sessionTokenOf(headers);
    return token === undefined
      ? { bucket: anonymous(address), refusal: nobody() }
      : bySession(token, address);
  };

  return {
    close: () => lastUse.flush(),
    authenticate,
    authenticateGit: (headers, address) => authenticate(withoutBasic(headers), address),
  };
}
