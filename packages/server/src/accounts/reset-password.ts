import type { Bus } from '../bus.ts';
import type { Db } from '../db/database.ts';
import { transaction } from '../db/transaction.ts';
import { hashPassword } from './passwords.ts';
import { findUser } from './sessions.ts';
import { accountOf } from './sign-in-limits.ts';
import { deleteSessionsOf, forgetNetworks, setPassword } from './store.ts';
import { auditUser } from './user-audit.ts';

/**
 * The operator gives a user a new password; all sessions of the user end. Returns false where no user has
 * the address.
 */
export async function resetPassword(
  ctx: { db: Db; bus: Bus },
  email: string,
  password: string,
): Promise<boolean> {
  const user = await findUser(ctx.db, email);
  if (!user) return false;
  const passwordHash = await hashPassword(password);
  await transaction(ctx, async (tx) => {
    await setPassword(tx, user.id, passwordHash);
    await deleteSessionsOf(tx, user.id, null);
    await forgetNetworks(tx, accountOf(email), null);
    await auditUser(tx, { userId: user.id, actorId: null, address: null }, 'user.password_reset');
    tx.wake('accounts', user.id);
  });
  return true;
}
