import { transaction } from '../db/transaction.ts';
import { plain } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { hashToken, sessionCookie, sessionTokenOf } from './session-cookie.ts';
import { deleteSession } from './store.ts';

export const signOut = plain({
  name: 'accounts.signOut',
  summary: 'Sign out',
  description: 'Ends this session immediately, with its open streams; other sessions of the user continue.',
  access: { session: 'user' },
  body: Body({}),
  responses: { 200: Ok({}) },
  async handle({ ctx, principal, headers }) {
    await transaction(ctx, async (tx) => {
      await deleteSession(tx, hashToken(sessionTokenOf(headers)!));
      tx.wake('accounts', principal.userId!);
    });
    return { status: 200, body: { ok: true }, headers: { 'set-cookie': sessionCookie(headers) } };
  },
});
