/** From a request's headers to its caller: a service key takes precedence over a session cookie. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Bus } from '../bus.ts';
import type { Db } from '../db/database.ts';
import { ApiError, invalid } from '../http/errors.ts';
import type { Authenticate } from '../http/admission.ts';
import { accessCache } from './access.ts';
import { credentialIdOf, hashKey, isServiceKey } from './keys.ts';
import { hashToken, sessionTokenOf } from './session-cookie.ts';

const BEARER = /^bearer +(\S+) *$/i;

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

const anonymous = (address: string) => `address ${address}`;

/** The authentication of a service's requests; see access.ts for how fast a change takes effect. */
export function createAuthenticator(ctx: { db: Db; bus: Bus }): { authenticate: Authenticate } {
  const cache = accessCache(ctx);

  async function byKey(key: string, address: string): ReturnType<Authenticate> {
    const loaded = isServiceKey(key) ? await cache.lookUp(`key ${credentialIdOf(key)}`, address) : null;
    if (!loaded || loaded.verdict === 'unknown' || !timingSafeEqual(loaded.secretHash!, hashKey(key)))
      return { bucket: anonymous(address), refusal: wrongKey() };
    const bucket = `key ${loaded.principal!.credentialId}`;
    return loaded.verdict === 'suspended'
      ? { bucket, refusal: suspended() }
      : { bucket, principal: loaded.principal! };
  }

  async function bySession(token: string, address: string): ReturnType<Authenticate> {
    const loaded = await cache.lookUp(`session ${hashToken(token).toString('hex')}`, address);
    if (!loaded?.principal) return { bucket: anonymous(address), refusal: wrongSession() };
    return { bucket: `user ${loaded.principal.userId}`, principal: loaded.principal };
  }

  return {
    async authenticate(headers, address) {
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
    },
  };
}
