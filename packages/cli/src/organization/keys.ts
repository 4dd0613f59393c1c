/** `headrace keys …`: service accounts, and the keys by which they sign in. */
import type {
  Account,
  CreateServiceAccountInput,
  Credential,
  UpdateServiceAccountInput,
} from '@headrace/client';
import { bodyOf, requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import type { Exit } from '../core/exit.ts';
import { usage } from '../core/fault.ts';
import { idNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { atMostOne } from '../core/input.ts';
import { showSecret } from '../core/secrets.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago, dated } from '../terminal/times.ts';
import { permissionsOf, permissionsText } from '../core/permissions.ts';

const accountsOf = (cli: Cli): Resource<Account> => ({
  what: 'service account',
  prefix: 'sa_',
  listing: 'headrace keys list',
  list: (options) => cli.client.accounts.list(options),
  named: ({ id, name }) => ({ id, label: name }),
});
const accountNamed = (cli: Cli, text: string) => idNamed(cli, text, accountsOf(cli));

type Keys = ReadonlyMap<string, readonly Credential[]>;
const columnsWith = (keys: Keys): Column<Account>[] => [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  { header: 'MAY', value: ({ permissions }) => permissionsText(permissions) },
  { header: 'APPS', value: ({ projectIds }) => (projectIds === null ? 'all' : projectIds.length) },
  { header: 'KEY', value: (account) => validityOf(account, keys.get(account.id) ?? []) },
  { header: 'USED', value: ({ id }) => lastUseOf(keys.get(id) ?? []) },
];

/** With the end of its last valid key, or why none counts. */
function validityOf({ disabled }: Account, keys: readonly Credential[]): string {
  const ends = keys.filter((one) => stateOf(one) === 'valid').map(({ expiresAt }) => expiresAt);
  if (disabled) return 'disabled';
  return ends.length === 0 ? 'none' : `ends ${ago(ends.sort().at(-1)!)}`;
}

function lastUseOf(keys: readonly Credential[]): string {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0 ? 'never' : ago(uses.sort().at(-1)!);
}

const AT_A_TIME = 8;

export async function listKeys(cli: Cli, limit: number | undefined): Promise<void> {
  const keys = new Map<string, readonly Credential[]>();
  const read = async ({ id }: Account) => {
    const { items } = await cli.client.credentials.list(id, { limit: 200, signal: cli.signal });
    keys.set(id, items);
  };
  await cli.list({
    member: 'accounts',
    async page(options) {
      const page = await cli.client.accounts.list(options);
      // JSON is the API's answer, which has no keys.
      for (let at = 0; !cli.isJson && at < page.items.length; at += AT_A_TIME)
        await Promise.all(page.items.slice(at, at + AT_A_TIME).map(read));
      return page;
    },
    columns: columnsWith(keys),
    empty: 'There are no service accounts yet. → headrace keys create NAME --allow all',
    limit,
  });
}

const stateOf = ({ revoked, expiresAt }: Credential) =>
  revoked ? 'revoked' : Date.parse(expiresAt) < Date.now() ? 'expired' : 'valid';
const CREDENTIAL_COLUMNS: readonly Column<Credential>[] = [
  { header: 'KEY', value: ({ id }) => id, whole: true },
  { header: 'STATE', value: stateOf, color: (one) => (stateOf(one) === 'valid' ? 'green' : 'gray') },
  { header: 'LAST USED', value: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : ago(lastUsedAt)) },
  { header: 'EXPIRES', value: ({ expiresAt }) => ago(expiresAt) },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

export async function listCredentials(cli: Cli, text: string, limit: number | undefined): Promise<void> {
  const accountId = await accountNamed(cli, text);
  await cli.list({
    member: 'credentials',
    page: (options) => cli.client.credentials.list(accountId, options),
    columns: CREDENTIAL_COLUMNS,
    empty: `The account has no keys. → headrace keys rotate ${accountId}`,
    limit,
  });
}

const textOf = (cli: Cli, account: Account) =>
  cli.details([
    ['ID', account.id],
    ['Name', account.name],
    ['May', permissionsText(account.permissions)],
    ['Apps', account.projectIds === null ? 'all' : account.projectIds.join(' ')],
    ['Disabled', account.disabled],
    ['Created', dated(account.createdAt)],
    ['Changed', dated(account.updatedAt)],
  ]);

export async function showAccount(cli: Cli, text: string): Promise<void> {
  const account = await cli.client.accounts.get(await accountNamed(cli, text), { signal: cli.signal });
  cli.show({ account }, () => textOf(cli, account));
}

interface AccountOptions {
  allow: string[];
  only: string[];
  input: string | undefined;
}

export async function createKey(cli: Cli, name: string | undefined, options: AccountOptions): Promise<Exit> {
  const body = await bodyOf<CreateServiceAccountInput>(cli, options.input, {
    name,
    permissions: permissionsOf(options.allow),
    projectIds: await reachable(cli, options.only),
  });
  if (body.name === undefined || body.permissions === undefined)
    throw usage('A key needs a NAME and what it may do: --allow thread:read,create, or --allow all.');
  const made = await cli.write(
    (client) => client.accounts.create(body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  const { account, credential, key } = made;
  rememberLast(cli, accountsOf(cli), account.id);
  return showSecret(cli, {
    what: 'key',
    secret: key,
    document: { ...made },
    about: `Service account ${account.id} ${oneLine(account.name)}, its key ${credential.id}, valid until ${credential.expiresAt.slice(0, 10)}.`,
    again: `headrace keys rotate ${account.id}`,
  });
}

interface AccountChange extends AccountOptions {
  name: string | undefined;
  'all-apps': boolean;
  enable: boolean;
  disable: boolean;
}

export async function updateKey(cli: Cli, text: string, options: AccountChange): Promise<void> {
  atMostOne(options, ['enable', 'disable']);
  atMostOne(options, ['only', 'all-apps']);
  const body = requireChange(
    await bodyOf<UpdateServiceAccountInput>(cli, options.input, {
      name: options.name,
      permissions: permissionsOf(options.allow),
      projectIds: options['all-apps'] ? null : await reachable(cli, options.only),
      disabled: options.disable ? true : options.enable ? false : undefined,
    }),
  );
  const accountId = await accountNamed(cli, text);
  const account = await cli.write(
    (client) => client.accounts.update(accountId, body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  cli.show({ account }, () => textOf(cli, account));
}

export async function rotateKey(cli: Cli, text: string, expiresInMs: number | undefined): Promise<Exit> {
  const accountId = await accountNamed(cli, text);
  const body = expiresInMs === undefined ? {} : { expiresInSeconds: Math.round(expiresInMs / 1000) };
  const made = await cli.write((client) =>
    client.credentials.rotate(accountId, body, { signal: cli.signal }),
  );
  const { account, credential, key } = made;
  return showSecret(cli, {
    what: 'key',
    secret: key,
    document: { ...made },
    about: `Key ${credential.id} of ${oneLine(account.name)}, valid until ${credential.expiresAt.slice(0, 10)}. Its former keys stay valid: headrace keys credentials ${account.id} lists them, headrace keys revoke ends one.`,
    again: `headrace keys rotate ${account.id} --fresh`,
  });
}

export async function revokeKey(cli: Cli, text: string, credentialId: string): Promise<void> {
  const accountId = await accountNamed(cli, text);
  await cli.requireYes(
    () => `Revoke the key ${oneLine(credentialId)}? What uses it is refused from its next request on.`,
  );
  const credential = await cli.write((client) =>
    client.credentials.revoke(accountId, credentialId, { signal: cli.signal }),
  );
  cli.show({ credential }, () => `${credential.id} is revoked.`);
}

export async function deleteAccount(cli: Cli, text: string): Promise<void> {
  const accountId = await accountNamed(cli, text);
  await cli.requireYes(async () => {
    const { name } = await cli.client.accounts.get(accountId, { signal: cli.signal });
    return `Delete the service account ${oneLine(name)}, with its keys?`;
  });
  const account = await cli.write((client) => client.accounts.delete(accountId, { signal: cli.signal }));
  cli.show({ account }, () => `Deleted ${oneLine(account.name)}.`);
}

/** Undefined without words; null is all apps, which only `--all-apps` says. */
async function reachable(cli: Cli, words: readonly string[]): Promise<string[] | undefined> {
  if (words.length === 0) return undefined;
  return Promise.all(words.map((word) => cli.appNamed(word)));
}
