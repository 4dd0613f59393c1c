/** `headrace whoami`: where commands go, and as whom. */
import type { Cli } from '../core/cli.ts';
import type { AccountPermissions, Client } from '@headrace/client';
import type { Credential } from '../config/target.ts';
import { permissionsText } from '../core/permissions.ts';
import type { Detail } from '../terminal/details.ts';
import { credentialIdOf } from './service-key.ts';

/** A person waits for the answer. */
const LIMIT_MS = 10_000;

/** The service knows the credential; a key's permissions are known to owners and admins only. */
export interface Identity {
  key: { credentialId: string | null } | null;
  user: { id: string; email: string; name: string } | null;
  organization: { id: string; name: string; role: string } | null;
  permissions: AccountPermissions | null;
}

/** Asks the service, by the cheapest operation that each credential may call. */
export async function identify(cli: Cli, client: Client, credential: Credential): Promise<Identity> {
  const options = { signal: cli.signal, timeoutMs: LIMIT_MS };
  if ('key' in credential) {
    await client.operations.list({ ...options, idempotencyKey: 'headrace-whoami', limit: 1 });
    const key = { credentialId: credentialIdOf(credential.key) };
    return { key, user: null, organization: null, permissions: null };
  }
  const { user, organizations, activeOrganizationId, permissions } = await client.session.get(options);
  const organization = organizations.find(({ id }) => id === activeOrganizationId) ?? null;
  return { key: null, user, organization, permissions };
}

export function identityDetails({ key, user, organization, permissions }: Identity): Detail[] {
  if (key) return [['Key', key.credentialId]];
  return [
    ['User', user && `${user.name} <${user.email}>`],
    ['Organization', organization && `${organization.name} (${organization.role})`],
    ['Permissions', permissions && permissionsText(permissions)],
  ];
}

export async function whoami(cli: Cli): Promise<void> {
  const { url, urlFrom, credential, from, app, appFrom } = cli.target;
  const place: Detail[] = [
    ['Address', `${url} (${urlFrom})`],
    ['Signed in by', credential && (from === 'HEADRACE_KEY' ? from : `context ${from}`)],
    ['App', app === undefined ? null : `${app} (${appFrom})`],
  ];
  try {
    if (!credential) throw cli.notSignedIn();
    const identity = await identify(cli, cli.client, credential);
    const document = { url, urlFrom, from, app: app === undefined ? null : { name: app, from: appFrom } };
    cli.show({ ...document, ...identity }, () => cli.details([...place, ...identityDetails(identity)]));
  } catch (error) {
    // What is known without the service often explains why it did not answer.
    if (!cli.isJson) cli.say(cli.details(place));
    throw error;
  }
}
