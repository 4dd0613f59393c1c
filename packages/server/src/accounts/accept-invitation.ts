import { audit } from '../audit/index.ts';
import type { Context } from '../context.ts';
import type { UserRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { plain } from '../http/operation.ts';
import type { Principal } from '../http/principal.ts';
import { Body, Text } from '../http/schemas.ts';
import { openInvitations } from './invitations.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { findUser, openSession, requirePasswordHash, Session, sessionBody } from './sessions.ts';
import { hashToken, sessionCookie } from './session-cookie.ts';
import { attempt } from './sign-in-limits.ts';
import { insertMember, insertUser, markInvitationAccepted } from './store.ts';

const openInvitation = (db: Context['db'] | Tx['db'], token: string) =>
  openInvitations(db).where('i.token_hash', '=', hashToken(token));

const wrongPassword = () =>
  new ApiError('unauthorized', 'This address has a user already. Give the password of that user.');

/** The password is the user's own, where the address has a user. */
async function requirePassword(
  ctx: Context,
  user: UserRow,
  password: string,
  address: string,
): Promise<void> {
  if (await attempt(ctx, user.email, address, () => verifyPassword(password, user.password_hash))) return;
  throw wrongPassword();
}

/** A browser that is signed in as another user, such as the one who invites, does not accept. */
function requireNobodyElse({ userId }: Principal, invited: UserRow | undefined): void {
  if (userId !== null && userId !== invited?.id)
    throw new ApiError(
      'forbidden',
      'You are signed in as another user. Only the invited person can accept: sign out first.',
    );
}

async function createUser(
  tx: Tx,
  user: { email: string; name: string; passwordHash: string },
): Promise<string> {
  const id = await insertUser(tx, user);
  if (id === undefined)
    throw new ApiError(
      'conflict',
      'This address got a user just now. Try again with the password of that user.',
    );
  return id;
}

export const acceptInvitation = plain({
  name: 'accounts.acceptInvitation',
  summary: 'Accept an invitation',
  description:
    'Creates the user, or verifies the password of the user who has the address, makes them a member, and signs in. A browser that is signed in as another user is refused.',
  access: 'public',
  body: Body({
    name: Text('Kim', { minLength: 1, maxLength: 200 }),
    password: Text('correct horse battery staple', { minLength: 8, maxLength: 1000 }),
  }),
  responses: { 200: Session },
  async handle({ ctx, principal, params, body: { name, password }, headers, address }) {
    const invitation = await openInvitation(ctx.db, params.token!).executeTakeFirst();
    if (!invitation) throw notFound('invitation');
    const user = await findUser(ctx.db, invitation.email);
    requireNobodyElse(principal, user);
    if (user) await requirePassword(ctx, user, password, address);
    // Hashing is slow: before the transaction, not inside.
    const passwordHash = user ? '' : await hashPassword(password);
    return transaction(ctx, async (tx) => {
      if (!(await openInvitation(tx.db, params.token!).forUpdate('i').executeTakeFirst()))
        throw notFound('invitation');
      if (user) await requirePasswordHash(tx, user, wrongPassword);
      await markInvitationAccepted(tx, invitation);
      const userId = user?.id ?? (await createUser(tx, { email: invitation.email, name, passwordHash }));
      await insertMember(tx, { orgId: invitation.org_id, userId, role: invitation.role });
      const by = { principal: { orgId: invitation.org_id, actorId: userId }, address };
      await audit(tx, by, 'member.joined', userId);
      const { token, orgId } = await openSession(tx, userId, { headers, address });
      tx.wake('accounts', invitation.org_id);
      return {
        status: 200,
        body: await sessionBody(ctx.config, tx.db, userId, orgId),
        headers: { 'set-cookie': sessionCookie(headers, token) },
      };
    });
  },
});
