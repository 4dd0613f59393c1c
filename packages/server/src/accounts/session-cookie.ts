/**
 * The browser's session: a random token in a cookie that scripts cannot read and other sites cannot send;
 * only its hash is stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const NAME = 'headrace_session';
export const SESSION_SECONDS = 30 * 86_400;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export const makeToken = () => randomBytes(32).toString('base64url');
export const hashToken = (token: string) => createHash('sha256').update(token).digest();

/** The session's token in a request's cookies, when there is one of the right form. */
export function sessionTokenOf(headers: IncomingHttpHeaders): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=', 2);
    if (name === NAME && TOKEN.test(value)) return value;
  }
  return undefined;
}

/** The `cookie` header that a browser sends with this token, when it has the form of one. */
export const sessionCookieHeader = (token: string): string | undefined =>
  TOKEN.test(token) ? `${NAME}=${token}` : undefined;

/**
 * The `set-cookie` header for a token, or, without one, the header that clears it. Secure when a proxy says
 * that the browser came by TLS: a lie there only concerns the liar's own cookie.
 */
export function sessionCookie(headers: IncomingHttpHeaders, token?: string): string {
  const isTls =
    String(headers['x-forwarded-proto'] ?? '')
      .split(',')[0]!
      .trim() === 'https';
  return `${NAME}=${token ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${token === undefined ? 0 : SESSION_SECONDS}${isTls ? '; Secure' : ''}`;
}
