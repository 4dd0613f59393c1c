/** `headrace organization …`, `sessions …`, `password`: what a signed-in person has. */
import type { Organization, Session } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { idNamed } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { readSecret } from '../core/input.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';

const organizationsOf = (cli: Cli): Resource<Organization> => ({
  what: 'organization',
  prefix: 'org_',
  listing: 'headrace organization show',
  async *list({ signal }) {
    yield* (await cli.client.session.get({ signal })).organizations;
  },
  named: ({ id, name }) => ({ id, label: name }),
});
const sessionsOf = (cli: Cli): Resource<Session> => ({
  what: 'session',
  prefix: 'ses_',
  listing: 'headrace sessions list',
  list: (options) => cli.client.sessions.list(options),
  named: ({ id, userAgent }) => ({ id, label: userAgent }),
});

interface SignedIn {
  organizations: Organization[];
  activeOrganizationId: string | null;
}

function organizationsText(cli: Cli, { organizations, activeOrganizationId }: SignedIn): string {
  const columns: Column<Organization>[] = [
    { header: '', value: ({ id }) => (id === activeOrganizationId ? '*' : ''), color: () => 'green' },
    { header: 'ID', value: ({ id }) => id, whole: true },
    { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
    { header: 'YOU ARE', value: ({ role }) => role },
  ];
  return cli.table(organizations, columns);
}

export async function showOrganizations(cli: Cli): Promise<void> {
  const session = await cli.client.session.get({ signal: cli.signal });
  cli.show({ ...session }, () => organizationsText(cli, session));
}

export async function switchOrganization(cli: Cli, text: string): Promise<void> {
  const organizationId = await idNamed(cli, text, organizationsOf(cli));
  const session = await cli.write((client) =>
    client.session.switchOrganization({ organizationId }, { signal: cli.signal }),
  );
  cli.show({ ...session }, () => organizationsText(cli, session));
}

export async function createOrganization(cli: Cli, name: string): Promise<void> {
  const organization = await cli.write((client) =>
    client.organizations.create({ name }, { signal: cli.signal }),
  );
  cli.show({ organization }, () => `${organization.id}  ${oneLine(organization.name)}`);
  cli.say(`To work in it: headrace organization switch ${organization.id}`);
}

export async function deleteOrganization(cli: Cli, text: string): Promise<void> {
  const id = await idNamed(cli, text, organizationsOf(cli));
  await cli.requireYes(() => `Delete the organization ${oneLine(text)}, with all its apps and threads?`);
  const organization = await cli.write((client) => client.organizations.delete(id, { signal: cli.signal }));
  cli.show({ organization }, () => `Deleted ${oneLine(organization.name)}.`);
}

const SESSION_COLUMNS: readonly Column<Session>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: '', value: ({ current }) => (current ? 'this one' : ''), color: () => 'green' },
  { header: 'LAST SEEN', value: ({ lastSeenAt }) => ago(lastSeenAt) },
  { header: 'FROM', value: ({ address }) => address },
  { header: 'WITH', value: ({ userAgent }) => userAgent },
];

export const listSessions = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'sessions',
    page: (options) => cli.client.sessions.list(options),
    columns: SESSION_COLUMNS,
    empty: 'You have no open sessions.',
    limit,
  });

export async function endSession(cli: Cli, text: string): Promise<void> {
  const id = await idNamed(cli, text, sessionsOf(cli));
  await cli.requireYes(() => `End the session ${oneLine(text)}?`);
  const session = await cli.write((client) => client.sessions.end(id, { signal: cli.signal }));
  cli.show({ session }, () => `The session ${session.id} has ended.`);
}

export async function changePassword(cli: Cli): Promise<void> {
  const passwords = await askPasswords(cli);
  // The receipt's key must not depend on a password, not even on its hash.
  const session = await cli.write((client) =>
    client.session.changePassword(passwords, { signal: cli.signal }),
  );
  cli.show({ ...session }, () => 'The password is changed. Your other sessions have ended.');
}

async function askPasswords(cli: Cli): Promise<{ currentPassword: string; newPassword: string }> {
  if (!cli.io.stdin.isTTY) {
    const [currentPassword, newPassword, ...more] = (await readSecret(cli, 'passwords')).split(/\r?\n/);
    if (!currentPassword || !newPassword || more.length > 0)
      throw usage('stdin is two lines: the current password, and the new one.');
    return { currentPassword, newPassword };
  }
  const currentPassword = await readSecret(cli, 'current password');
  const newPassword = await readSecret(cli, 'new password');
  if ((await readSecret(cli, 'new password again')) !== newPassword)
    throw usage('The two new passwords differ.');
  return { currentPassword, newPassword };
}
