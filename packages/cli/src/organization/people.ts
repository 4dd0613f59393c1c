/** `headrace members …`, `invitations …` */
import type { Invitation, Member } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import type { Exit } from '../core/exit.ts';
import { usage } from '../core/fault.ts';
import { idNamed } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { showSecret } from '../core/secrets.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';

type Role = Member['role'];
const ROLES: readonly Role[] = ['owner', 'admin', 'member'];
const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

const membersOf = (cli: Cli): Resource<Member> => ({
  what: 'member',
  prefix: 'usr_',
  listing: 'headrace members list',
  list: (options) => cli.client.members.list(options),
  named: ({ userId, email }) => ({ id: userId, label: email }),
});
const invitationsOf = (cli: Cli): Resource<Invitation> => ({
  what: 'invitation',
  prefix: 'inv_',
  listing: 'headrace invitations list',
  list: (options) => cli.client.invitations.list(options),
  named: ({ id, email }) => ({ id, label: email }),
});
/** An e-mail address counts as a name, without `~`. */
const personNamed = <T>(cli: Cli, text: string, resource: Resource<T>) =>
  idNamed(cli, text.includes('@') && !/^[~@]/.test(text) ? `~${text}` : text, resource);

const COLUMNS: readonly Column<Member>[] = [
  { header: 'E-MAIL', value: ({ email }) => email, color: () => 'bold' },
  { header: 'NAME', value: ({ name }) => name },
  { header: 'ROLE', value: ({ role }) => role },
  { header: 'SINCE', value: ({ createdAt }) => ago(createdAt) },
  { header: 'ID', value: ({ userId }) => userId, whole: true },
];

export const listMembers = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'members',
    page: (options) => cli.client.members.list(options),
    columns: COLUMNS,
    empty: 'The organization has no members.',
    limit,
  });

export async function inviteMember(cli: Cli, email: string, role: Role): Promise<Exit> {
  const invitation = await cli.write((client) =>
    client.members.invite({ email, role }, { signal: cli.signal }),
  );
  return showSecret(cli, {
    what: 'address of the invitation',
    secret: invitation.url ?? undefined,
    document: { invitation },
    about: `${oneLine(invitation.email)} joins as ${role} by opening this address, which ends ${ago(invitation.expiresAt)}. Nothing is mailed: send it.`,
    again: `headrace invitations revoke ${invitation.id}, then headrace members invite`,
  });
}

export async function updateMember(cli: Cli, text: string, role: string): Promise<void> {
  if (!isRole(role)) throw usage(`A role is ${ROLES.join(', ')}, not ${JSON.stringify(role)}.`);
  const userId = await personNamed(cli, text, membersOf(cli));
  const member = await cli.write((client) => client.members.update(userId, { role }, { signal: cli.signal }));
  cli.show({ member }, () => `${oneLine(member.email)} is ${member.role}.`);
}

export async function removeMember(cli: Cli, text: string): Promise<void> {
  const userId = await personNamed(cli, text, membersOf(cli));
  await cli.requireYes(() => `Remove ${oneLine(text)} from the organization?`);
  const member = await cli.write((client) => client.members.remove(userId, { signal: cli.signal }));
  cli.show({ member }, () => `${oneLine(member.email)} is no member any more.`);
}

const INVITATION_COLUMNS: readonly Column<Invitation>[] = [
  { header: 'E-MAIL', value: ({ email }) => email, color: () => 'bold' },
  { header: 'ROLE', value: ({ role }) => role },
  { header: 'ENDS', value: ({ expiresAt }) => ago(expiresAt) },
  { header: 'ID', value: ({ id }) => id, whole: true },
];

export const listInvitations = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'invitations',
    page: (options) => cli.client.invitations.list(options),
    columns: INVITATION_COLUMNS,
    empty: 'There are no open invitations. → headrace members invite ADDRESS',
    limit,
  });

export async function revokeInvitation(cli: Cli, text: string): Promise<void> {
  const id = await personNamed(cli, text, invitationsOf(cli));
  await cli.requireYes(() => `Revoke the invitation ${oneLine(text)}?`);
  const invitation = await cli.write((client) => client.invitations.revoke(id, { signal: cli.signal }));
  cli.show({ invitation }, () => `The invitation of ${oneLine(invitation.email)} is revoked.`);
}
