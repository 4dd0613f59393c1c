import { audit } from '../audit/index.ts';
import { notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { requireOrganization } from './policy.ts';
import { hashToken, sessionTokenOf } from './session-cookie.ts';
import { OpenSession, openSessionsOf, openSessionView } from './sessions.ts';
import { deleteSession } from './store.ts';

export const endSession = write({
  name: 'accounts.endSession',
  summary: 'End one of your sessions',
  description:
    'Takes effect with its next request in this process, and within a second in all others; its open streams end.',
  access: { session: 'user' },
  responses: { 200: Ok({ session: OpenSession }) },
  async handle(tx, { principal, params, headers, address }) {
    requireOrganization(principal);
    const session = await openSessionsOf(tx.db, principal.userId!)
      .where('id', '=', params.sessionId!)
      .forUpdate()
      .executeTakeFirst();
    if (!session) throw notFound('session');
    await deleteSession(tx, session.token_hash);
    await audit(tx, { principal, address }, 'session.ended', session.id);
    tx.wake('accounts', principal.userId!);
    const own = hashToken(sessionTokenOf(headers)!);
    return { status: 200, body: { ok: true, session: openSessionView(session, own) } };
  },
});
