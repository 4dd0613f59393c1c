/** `headrace hosts …`: people's own machines, and the folders that they offer. */
import type { Binding, Host } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import type { Exit } from '../core/exit.ts';
import { idNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { showSecret } from '../core/secrets.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago, dated } from '../terminal/times.ts';

const hostsOf = (cli: Cli): Resource<Host> => ({
  what: 'host',
  prefix: 'hst_',
  listing: 'headrace hosts list',
  list: (options) => cli.client.hosts.list(options),
  named: ({ id, name }) => ({ id, label: name }),
});
const hostNamed = (cli: Cli, text: string) => idNamed(cli, text, hostsOf(cli));

const seen = ({ lastSeenAt }: Host) => (lastSeenAt === null ? 'never' : ago(lastSeenAt));

const COLUMNS: readonly Column<Host>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  {
    header: 'STATE',
    value: ({ status }) => status,
    color: ({ status }) => (status === 'online' ? 'green' : 'gray'),
  },
  { header: 'FOR', value: ({ share }) => share },
  { header: 'AGENTS', value: ({ providers }) => providers.join(' ') },
  { header: 'SEEN', value: seen },
];

export const listHosts = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'hosts',
    page: (options) => cli.client.hosts.list(options),
    columns: COLUMNS,
    empty: 'There are no hosts yet. → headrace hosts create NAME',
    limit,
  });

const textOf = (cli: Cli, host: Host) =>
  cli.details([
    ['ID', host.id],
    ['Name', host.name],
    ['State', host.status],
    ['Seen', seen(host)],
    ['For', host.share],
    ['Agents', host.providers.join(' ')],
    ['Program', host.version],
    ['Person', host.userId],
    ['Created', dated(host.createdAt)],
  ]);

export async function showHost(cli: Cli, text: string): Promise<void> {
  const host = await cli.client.hosts.get(await hostNamed(cli, text), { signal: cli.signal });
  cli.show({ host }, () => textOf(cli, host));
}

const BINDING_COLUMNS: readonly Column<Binding>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  {
    header: 'MODES',
    value: ({ removed, workspaceModes }) => (removed ? 'removed' : workspaceModes.join(' ')),
  },
  { header: 'BRANCH', value: ({ branch }) => branch },
];

export async function listBindings(cli: Cli, text: string, limit: number | undefined) {
  const id = await hostNamed(cli, text);
  return cli.list({
    member: 'bindings',
    page: (options) => cli.client.hosts.bindings(id, options),
    columns: BINDING_COLUMNS,
    empty: 'It offers no folders yet: its program tells them when it connects.',
    limit,
  });
}

export async function createHost(cli: Cli, name: string): Promise<Exit> {
  const made = await cli.write((client) => client.hosts.create({ name }, { signal: cli.signal }), name);
  const { host, token } = made;
  rememberLast(cli, hostsOf(cli), host.id);
  return showSecret(cli, {
    what: 'token',
    secret: token,
    document: { ...made },
    about: `Host ${host.id}, ${oneLine(host.name)}, connects with this token. → headrace host --token-file FILE`,
    again: `headrace hosts rotate-token ${host.id}`,
  });
}

export async function renameHost(cli: Cli, text: string, name: string): Promise<void> {
  const id = await hostNamed(cli, text);
  const host = await cli.write((client) => client.hosts.update(id, { name }, { signal: cli.signal }), name);
  cli.show({ host }, () => textOf(cli, host));
}

export async function rotateHostToken(cli: Cli, text: string): Promise<Exit> {
  const id = await hostNamed(cli, text);
  const made = await cli.write((client) => client.hosts.rotateToken(id, { signal: cli.signal }));
  return showSecret(cli, {
    what: 'token',
    secret: made.token,
    document: { ...made },
    about: `The new token of ${id}. The one before, and its connection, have ended.`,
    again: `headrace hosts rotate-token ${id}`,
  });
}

export async function deleteHost(cli: Cli, text: string): Promise<void> {
  const id = await hostNamed(cli, text);
  await cli.requireYes(async () => {
    const { name } = await cli.client.hosts.get(id, { signal: cli.signal });
    return `Delete the host ${oneLine(name)}? Its runs end, and its threads take no messages any more.`;
  });
  const host = await cli.write((client) => client.hosts.delete(id, { signal: cli.signal }));
  cli.show({ host }, () => `Deleted ${oneLine(host.name)}.`);
}
