export const SESSION_COOKIE = 'workshop_session';

/** The value of a cookie in a `Cookie` header; undefined without one. */
export function readCookie(header, name) {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** A `Set-Cookie` value that opens (token) or ends (null) the session. */
export function sessionCookie(token) {
  const age = token === null ? 'Max-Age=0' : 'Max-Age=43200';
  return `${SESSION_COOKIE}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; ${age}`;
}
