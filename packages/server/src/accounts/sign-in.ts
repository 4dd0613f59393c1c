import { audit } from '../audit/index.ts';
import { transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { plain } from '../http/operation.ts';
import { Body, Text } from '../http/schemas.ts';
import { verifyPassword } from './passwords.ts';
import { findUser, openSession, requirePasswordHash, Session, sessionBody } from './sessions.ts';
import { sessionCookie } from './session-cookie.ts';
import { attempt } from './sign-in-limits.ts';

const wrong = () => new ApiError('unauthorized', 'The e-mail address or the password is wrong.');

export const signIn = plain({
  name: 'accounts.signIn',
  summary: 'Sign in by e-mail address and password',
  description: 'Sets the session cookie. The session acts in the first organization of the user.',
  access: 'public',
  body: Body({
    email: Text('kim@example.com', { minLength: 1, maxLength: 320 }),
    password: Text('correct horse battery staple', { minLength: 1, maxLength: 1000 }),
  }),
  responses: { 200: Session },
  async handle({ ctx, body: { email, password }, headers, address }) {
    const user = await findUser(ctx.db, email);
    if (!(await attempt(ctx, email, address, () => verifyPassword(password, user?.password_hash))) || !user) {
      ctx.log.info({ address }, 'a sign-in was refused');
      throw wrong();
    }
    return transaction(ctx, async (tx) => {
      await requirePasswordHash(tx, user, wrong);
      const { token, orgId } = await openSession(tx, user.id, { headers, address });
      if (orgId !== null)
        await audit(tx, { principal: { orgId, actorId: user.id }, address }, 'session.created', user.id);
      return {
        status: 200,
        body: await sessionBody(ctx.config, tx.db, user.id, orgId),
        headers: { 'set-cookie': sessionCookie(headers, token) },
      };
    });
  },
});
