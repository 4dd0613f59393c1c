/** For tests: sessions, further organizations, invited people and keys of a test server. */
import { randomUUID } from 'node:crypto';
import { OWNER } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { PERMISSIONS } from './permissions.ts';

/** Where browsers call from: no key, this service's own origin. */
export const browser = (s: TestServer) => ({ key: null, idem: false as const, headers: { origin: s.base } });

export const cookieOf = (answer: TestAnswer) =>
  answer.headers
    .getSetCookie()
    .map((c) => c.split(';')[0])
    .join('; ');

export function expectStatus(answer: TestAnswer, status: number): TestAnswer {
  if (answer.status !== status)
    throw new Error(`status ${answer.status}, expected ${status}: ${answer.text}`);
  return answer;
}

/** A new session; returns its cookie. */
export async function signedIn(
  s: TestServer,
  who: { email: string; password: string } = OWNER,
): Promise<string> {
  return cookieOf(
    expectStatus(
      await s.call(
        'POST',
        '/api/auth/sign-in/email',
        { email: who.email, password: who.password },
        browser(s),
      ),
      200,
    ),
  );
}

/** Creates a service account in the session's organization: `{ account, credential, key }`. */
export async function newAccount(s: TestServer, cookie: string, fields: Record<string, unknown> = {}) {
  return expectStatus(
    await s.call(
      'POST',
      '/api/service-accounts',
      { name: 'Test', permissions: PERMISSIONS, ...fields },
      { cookie },
    ),
    201,
  ).body;
}

/** A further organization with a session of its owner in it. */
export async function tenant(s: TestServer) {
  const cookie = await signedIn(s);
  const { organization } = expectStatus(
    await s.call('POST', '/api/organizations', { name: 'Tenant' }, { cookie }),
    201,
  ).body;
  expectStatus(
    await s.call('PUT', '/api/session/organization', { organizationId: organization.id }, { cookie }),
    200,
  );
  return { cookie, organization: organization as { id: string; name: string } };
}

export async function invite(
  s: TestServer,
  cookie: string,
  role: string,
  email = `${randomUUID()}@example.test`,
) {
  const { invitation } = expectStatus(
    await s.call('POST', '/api/members', { email, role }, { cookie }),
    201,
  ).body;
  return { email, token: new URL(invitation.url).pathname.split('/').at(-1)! };
}

export const accept = (s: TestServer, token: string, body: unknown) =>
  s.call('POST', `/api/invitations/${token}/accept`, body, browser(s));

/** A new member of the session's organization. */
export async function invited(s: TestServer, cookie: string, role: string) {
  const { email, token } = await invite(s, cookie, role);
  const password = randomUUID();
  const answer = expectStatus(await accept(s, token, { name: 'Kim', password }), 200);
  return {
    cookie: cookieOf(answer),
    user: answer.body.user as { id: string; email: string },
    email,
    password,
  };
}
