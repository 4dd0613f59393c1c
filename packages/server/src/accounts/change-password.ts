import { transaction } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import { Body, Text } from '../http/schemas.ts';
import { networkOf } from '../limits/networks.ts';
import { hashPassword, NEW_PASSWORD, verifyPassword } from './passwords.ts';
import { requireOrganization } from './policy.ts';
import { hashToken, sessionTokenOf } from './session-cookie.ts';
import { requirePasswordHash, Session, sessionBody } from './sessions.ts';
import { accountOf, attempt } from './sign-in-limits.ts';
import { deleteSessionsOf, forgetNetworks, setPassword } from './store.ts';
import { auditUser } from './user-audit.ts';

const wrongPassword = () => new ApiError('forbidden', 'The current password is wrong.');

export const changePassword = claimedWrite({
  name: 'accounts.changePassword',
  summary: 'Change your password',
  description:
    'All your other sessions end, with their open streams: immediately in this process, and within a second in all others. A wrong `currentPassword` counts as a failed sign-in.',
  access: { session: 'user' },
  body: Body({
    currentPassword: Text('correct horse battery staple', { minLength: 1, maxLength: 1000 }),
    newPassword: Text('incorrect pony battery staple', NEW_PASSWORD),
  }),
  responses: { 200: Session },
  // Hashing is slow: outside of a transaction. A retry of a change that was made does not check the password.
  mode: 'staged',
  publishesPending: false,
  async prepare({ principal }) {
    requireOrganization(principal);
    return { prepared: undefined };
  },
  async handle({ ctx, principal, body, headers, address }, claim) {
    const userId = principal.userId!;
    const user = await ctx.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();
    const isRight = () => verifyPassword(body.currentPassword, user.password_hash);
    if (!(await attempt(ctx, user.email, address, isRight))) throw wrongPassword();
    const passwordHash = await hashPassword(body.newPassword);
    return transaction(ctx, async (tx) => {
      await requirePasswordHash(tx, user, wrongPassword);
      await setPassword(tx, userId, passwordHash);
      await deleteSessionsOf(tx, userId, hashToken(sessionTokenOf(headers)!));
      await forgetNetworks(tx, accountOf(user.email), networkOf(address));
      await auditUser(tx, { userId, actorId: userId, address }, 'user.password_changed');
      tx.wake('accounts', userId);
      const result = { status: 200, body: await sessionBody(ctx.config, tx.db, userId, principal.orgId) };
      await claim.settle(tx, result);
      return result;
    });
  },
});
