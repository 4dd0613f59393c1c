/** Invitations as the API shows them, and which of them are open. */
import { sql } from 'kysely';
import Type from 'typebox';
import type { Db } from '../db/database.ts';
import type { InvitationRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { Id, Nullable, Text, Time } from '../http/schemas.ts';
import { RoleName } from './sessions.ts';

export const Invitation = Type.Object({
  id: Id('inv'),
  email: Text('kim@example.com'),
  role: RoleName,
  url: Nullable(
    Text('https://headrace.example.com/console/invitations/3vQbX0', {
      description:
        "What the invited person opens; its path's last segment is the token. Only the first answer has it, later ones null: only a hash is kept.",
    }),
  ),
  expiresAt: Time,
});

type ShownInvitation = Pick<InvitationRow, 'id' | 'email' | 'role' | 'expires_at'>;

export const invitationView = (i: ShownInvitation, url: string | null) => ({
  id: i.id,
  email: i.email,
  role: i.role,
  url,
  expiresAt: i.expires_at.toISOString(),
});

/** Those whose link works: of an organization that exists, by a member who may still invite that role. */
export const openInvitations = (db: Db | Tx['db']) =>
  db
    .selectFrom('invitations as i')
    .innerJoin('organizations as o', 'o.id', 'i.org_id')
    .innerJoin('members as m', (join) =>
      join.onRef('m.org_id', '=', 'i.org_id').onRef('m.user_id', '=', 'i.invited_by'),
    )
    .select(['i.id', 'i.org_id', 'i.email', 'i.role', 'i.expires_at'])
    .where('i.accepted_at', 'is', null)
    .where('i.expires_at', '>', sql<Date>`now()`)
    .where('o.deleted_at', 'is', null)
    .where((eb) =>
      eb.or([eb('m.role', '=', 'owner'), eb.and([eb('m.role', '=', 'admin'), eb('i.role', '<>', 'owner')])]),
    );
