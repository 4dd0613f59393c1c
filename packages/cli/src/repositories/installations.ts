/** `headrace installations …`: connections to source control hosts. */
import type { Installation, ScmUpdateInstallationInput } from '@headrace/client';
import { requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { usage } from '../core/fault.ts';
import { readText } from '../core/input.ts';
import { showSecret } from '../core/secrets.ts';
import { oneLine } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { installationNamed } from './named.ts';

const COLUMNS: readonly Column<Installation>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  { header: 'HOST', value: ({ provider }) => provider },
  { header: 'STATUS', value: ({ status }) => status, color: ({ status }) => statusColor(status) },
  { header: 'READ', value: ({ syncedAt }) => ago(syncedAt) },
];

export const listInstallations = (cli: Cli, limit: number | undefined): Promise<void> =>
  cli.list({
    member: 'installations',
    page: (options) => cli.client.scm.listInstallations(options),
    columns: COLUMNS,
    empty: 'There are no installations yet. → headrace installations create NAME',
    limit,
  });

export async function showInstallation(cli: Cli, text: string): Promise<void> {
  const id = await installationNamed(cli, text);
  print(cli, await cli.client.scm.getInstallation(id, { signal: cli.signal }));
}

const print = (cli: Cli, installation: Installation): void =>
  cli.show({ installation }, () => textOf(cli, installation));

const textOf = (cli: Cli, installation: Installation): string =>
  cli.details([
    ['ID', installation.id],
    ['Name', installation.name, 'bold'],
    ['Host', installation.provider],
    ['Account', installation.accountLogin ?? undefined],
    ['API', installation.baseUrl ?? undefined],
    ['Credential', installation.auth],
    ['Managed by', installation.managedBy],
    ['Status', installation.status, statusColor(installation.status)],
    ['Error', installation.error?.message],
    ['Webhook', installation.webhookUrl ?? undefined],
    ['Last delivery', installation.webhookUrl === null ? undefined : ago(installation.webhookReceivedAt)],
    ['Repositories read', ago(installation.syncedAt)],
  ]);

/** Files that hold the secrets; `-` is stdin, for one of them. */
interface Credential {
  'token-file': string | undefined;
  'app-id': string | undefined;
  'installation-id': string | undefined;
  'private-key-file': string | undefined;
  'webhook-secret-file': string | undefined;
}

type Secrets = Pick<ScmUpdateInstallationInput, 'token' | 'app' | 'webhookSecret'>;

async function secretsOf(cli: Cli, given: Credential): Promise<Secrets> {
  const { 'token-file': tokenFile, 'webhook-secret-file': webhookFile } = given;
  const app = [given['app-id'], given['installation-id'], given['private-key-file']];
  const isApp = app.some((value) => value !== undefined);
  if (isApp && app.includes(undefined))
    throw usage('A GitHub App needs --app-id, --installation-id and --private-key-file.');
  if (isApp && tokenFile !== undefined)
    throw usage('--token-file and the options of a GitHub App exclude each other.');
  if ([tokenFile, webhookFile, app[2]].filter((file) => file === '-').length > 1)
    throw usage('Only one secret can come from stdin.');
  const [appId, installationId, keyFile] = app;
  return {
    ...(tokenFile !== undefined && { token: (await readText(cli, tokenFile)).trim() }),
    ...(isApp && {
      app: {
        appId: appId!,
        installationId: installationId!,
        privateKey: await readText(cli, keyFile!),
      },
    }),
    ...(webhookFile !== undefined && { webhookSecret: (await readText(cli, webhookFile)).trim() }),
  };
}

/** What distinguishes writes. A receipt's key must not depend on a secret, not even on its hash. */
const withoutSecrets = ({
  token: _token,
  webhookSecret: _secret,
  app,
  ...body
}: ScmUpdateInstallationInput): string =>
  JSON.stringify({ ...body, app: app && { ...app, privateKey: undefined } });

export async function createInstallation(
  cli: Cli,
  name: string,
  given: Credential & { 'base-url': string | undefined },
): Promise<Exit> {
  const secrets = await secretsOf(cli, given);
  if (!secrets.token && !secrets.app)
    throw usage('Give a credential: --token-file, or --app-id with the other options of a GitHub App.');
  const body = { provider: 'github' as const, name, baseUrl: given['base-url'], ...secrets };
  const answer = await cli.write(
    (client) => client.scm.createInstallation(body, { signal: cli.signal }),
    withoutSecrets(body),
  );
  const { installation, webhookSecret } = answer;
  if (given['webhook-secret-file'] !== undefined) {
    cli.show({ ...answer }, () => textOf(cli, installation));
    return EXIT.done;
  }
  return showSecret(cli, {
    what: 'webhook secret',
    secret: webhookSecret,
    document: { ...answer },
    about: `Connected ${oneLine(name)}. Its webhook: ${String(installation.webhookUrl)}`,
    again: `headrace installations update ${installation.id} --webhook-secret-file FILE`,
  });
}

export async function updateInstallation(
  cli: Cli,
  text: string,
  given: Credential & { name: string | undefined },
): Promise<void> {
  const { name } = given;
  const body = requireChange<ScmUpdateInstallationInput>({
    ...(name !== undefined && { name }),
    ...(await secretsOf(cli, given)),
  });
  const id = await installationNamed(cli, text);
  const about = `${id} ${withoutSecrets(body)}`;
  print(
    cli,
    await cli.write((client) => client.scm.updateInstallation(id, body, { signal: cli.signal }), about),
  );
}

export async function deleteInstallation(cli: Cli, text: string): Promise<void> {
  const id = await installationNamed(cli, text);
  await cli.requireYes(async () => {
    const { name } = await cli.client.scm.getInstallation(id, { signal: cli.signal });
    return `Disconnect ${oneLine(name)}? Its secrets are removed, and projects no longer reach their repositories.`;
  });
  const installation = await cli.write(
    (client) => client.scm.deleteInstallation(id, { signal: cli.signal }),
    id,
  );
  cli.show({ installation }, () => `Disconnected ${oneLine(installation.name)}.`);
}

export async function syncInstallation(cli: Cli, text: string): Promise<void> {
  const id = await installationNamed(cli, text);
  const installation = await cli.write(
    (client) => client.scm.syncInstallation(id, { signal: cli.signal }),
    id,
  );
  cli.show({ installation }, () => `The repositories of ${oneLine(installation.name)} are being read again.`);
}
