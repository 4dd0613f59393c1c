import { createPasswords } from '../../server/auth/passwords.js';
import { createSessions } from '../../server/auth/sessions.js';
import { createThrottle } from '../../server/auth/throttle.js';
import { createServer } from '../../server/http/server.js';
import { fixtures } from '../../server/store/fixtures.js';
import { createStore } from '../../server/store/memory-store.js';

// A Tuesday, on which the library of the fixtures is open.
export const TODAY = '2026-03-10';
export const PASSWORD = 'borrow-a-drill';

/** Handlers' context on the fixtures, with a cheap password cost and a day that stands still. */
export function openLibrary(today = TODAY) {
  const passwords = createPasswords(2);
  return {
    store: createStore(fixtures(today, passwords.hash(PASSWORD))),
    today: () => today,
    passwords,
    sessions: createSessions(),
    throttle: createThrottle(),
  };
}

/** A real server on a free port of the loopback, closed after the test. */
export async function startServer(test, ctx = openLibrary(), options = {}) {
  const server = createServer(ctx, options);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${server.address().port}`;

  function client(cookie) {
    return async (method, path, body) => {
      const headers = { ...(cookie && { cookie }), ...(body !== undefined && { 'content-type': 'application/json' }) };
      const response = await fetch(base + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
      const text = await response.text();
      const json = response.headers.get('content-type')?.includes('json') && text ? JSON.parse(text) : undefined;
      return { status: response.status, headers: response.headers, text, json };
    };
  }

  async function signIn(email) {
    const { headers } = await client()('POST', '/api/session', { email, password: PASSWORD });
    return client(headers.get('set-cookie').split(';')[0]);
  }
  return { ctx, base, visitor: client(), signIn };
}
