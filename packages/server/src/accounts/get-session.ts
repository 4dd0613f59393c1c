import { read } from '../http/operation.ts';
import { Session, sessionBody } from './sessions.ts';

export const getSession = read({
  name: 'accounts.getSession',
  summary: 'Who is signed in, and where',
  access: { session: 'user' },
  responses: { 200: Session },
  handle: async ({ ctx, principal }) => ({
    status: 200,
    body: await sessionBody(ctx.config, ctx.db, principal.userId!, principal.orgId),
  }),
});
