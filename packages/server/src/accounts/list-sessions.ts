import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { hashToken, sessionTokenOf } from './session-cookie.ts';
import { OpenSession, openSessionsOf, openSessionView } from './sessions.ts';

export const listSessions = read({
  name: 'accounts.listSessions',
  summary: 'List your open sessions, newest first',
  description: 'Nobody else can see them, whatever their role.',
  access: { session: 'user' },
  query: ListQuery(),
  responses: { 200: Page('sessions', OpenSession) },
  async handle({ ctx, principal, query, headers }) {
    const own = hashToken(sessionTokenOf(headers)!);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['sessions', principal.userId] },
      (after, limit) => {
        let sessions = openSessionsOf(ctx.db, principal.userId!);
        if (after !== null) sessions = sessions.where('id', '<', after);
        return sessions.orderBy('id', 'desc').limit(limit).execute();
      },
      (session) => session.id,
    );
    return {
      status: 200,
      body: { ok: true, sessions: rows.map((session) => openSessionView(session, own)), ...rest },
    };
  },
});
