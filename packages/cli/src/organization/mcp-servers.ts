/** `headrace mcp-servers …`: tools that agents may use. */
import type { CreateMcpServerInput, McpServer, UpdateMcpServerInput } from '@headrace/client';
import { bodyOf, requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { idNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { atMostOne, readSecret, readText } from '../core/input.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago, dated } from '../terminal/times.ts';

const serversOf = (cli: Cli): Resource<McpServer> => ({
  what: 'MCP server',
  prefix: 'mcp_',
  listing: 'headrace mcp-servers list',
  list: (options) => cli.client.mcpServers.list(options),
  named: ({ id, name }) => ({ id, label: name }),
});
const serverNamed = (cli: Cli, text: string) => idNamed(cli, text, serversOf(cli));

const COLUMNS: readonly Column<McpServer>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  { header: 'KIND', value: ({ transport }) => transport },
  { header: 'WHERE', value: ({ url, command }) => url ?? command },
  { header: 'APPS', value: ({ projectIds }) => (projectIds === null ? 'all' : projectIds.length) },
  { header: 'CHANGED', value: ({ updatedAt }) => ago(updatedAt) },
];

export const listServers = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'mcpServers',
    page: (options) => cli.client.mcpServers.list(options),
    columns: COLUMNS,
    empty: 'There are no MCP servers yet. → headrace mcp-servers create NAME --server-url URL',
    limit,
  });

const textOf = (cli: Cli, server: McpServer) =>
  cli.details([
    ['ID', server.id],
    ['Name', server.name],
    ['Kind', server.transport],
    ['URL', server.url ?? undefined],
    ['Command', server.command ?? undefined],
    ['Headers', server.headers.join(', ') || undefined],
    ['Environment', server.env.join(', ') || undefined],
    ['Apps', server.projectIds === null ? 'all' : server.projectIds.join(' ')],
    ['Created', dated(server.createdAt)],
    ['Changed', dated(server.updatedAt)],
  ]);

export async function showServer(cli: Cli, text: string): Promise<void> {
  const mcpServer = await cli.client.mcpServers.get(await serverNamed(cli, text), { signal: cli.signal });
  cli.show({ mcpServer }, () => textOf(cli, mcpServer));
}

interface ServerOptions {
  'server-url': string | undefined;
  command: string | undefined;
  header: string[];
  env: string[];
  only: string[];
  input: string | undefined;
}

export async function createServer(
  cli: Cli,
  name: string | undefined,
  options: ServerOptions,
): Promise<void> {
  const fields = await fieldsOf(cli, options);
  const body = await bodyOf<CreateMcpServerInput>(cli, options.input, { name, ...fields });
  if (body.name === undefined || body.transport === undefined)
    throw usage('An MCP server needs a NAME, and --server-url URL or --command COMMAND.');
  const mcpServer = await cli.write(
    (client) => client.mcpServers.create(body, { signal: cli.signal }),
    withoutSecrets(body),
  );
  rememberLast(cli, serversOf(cli), mcpServer.id);
  cli.show({ mcpServer }, () => textOf(cli, mcpServer));
}

interface ServerChange extends ServerOptions {
  name: string | undefined;
  'all-apps': boolean;
}

export async function updateServer(cli: Cli, text: string, options: ServerChange): Promise<void> {
  atMostOne(options, ['only', 'all-apps']);
  const fields = await fieldsOf(cli, options);
  const body = requireChange(
    await bodyOf<UpdateMcpServerInput>(cli, options.input, {
      name: options.name,
      ...fields,
      projectIds: options['all-apps'] ? null : fields.projectIds,
    }),
  );
  const id = await serverNamed(cli, text);
  const mcpServer = await cli.write(
    (client) => client.mcpServers.update(id, body, { signal: cli.signal }),
    withoutSecrets(body),
  );
  cli.show({ mcpServer }, () => textOf(cli, mcpServer));
}

export async function deleteServer(cli: Cli, text: string): Promise<void> {
  const id = await serverNamed(cli, text);
  await cli.requireYes(() => `Delete the MCP server ${oneLine(text)}? Agents lose its tools.`);
  const mcpServer = await cli.write((client) => client.mcpServers.delete(id, { signal: cli.signal }));
  cli.show({ mcpServer }, () => `Deleted ${oneLine(mcpServer.name)}.`);
}

async function fieldsOf(cli: Cli, options: ServerOptions) {
  atMostOne(options, ['server-url', 'command']);
  const { 'server-url': url, command, header, env, only } = options;
  return {
    url,
    command,
    transport: url !== undefined ? 'http' : command !== undefined ? 'stdio' : undefined,
    headers: await headersOf(cli, header),
    env: await environmentOf(cli, env),
    projectIds: only.length === 0 ? undefined : await Promise.all(only.map((app) => cli.appNamed(app))),
  } as const;
}

/** `NAME=@FILE`, or a NAME whose value is asked for. A value is a credential, so it is no argument. */
async function headersOf(cli: Cli, words: readonly string[]): Promise<Record<string, string> | undefined> {
  if (words.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const word of words) {
    const [, name, file] = /^([^=:\s]+)(?:=@(.+))?$/u.exec(word) ?? [];
    if (name === undefined)
      throw usage(
        'The value of a header is a secret, and no argument: write --header NAME to be asked for it, or --header NAME=@FILE.',
      );
    headers[name] =
      file === undefined ? await readSecret(cli, `value of ${name}`) : (await readText(cli, file)).trim();
  }
  return headers;
}

/** `NAME=TEXT`; `NAME=@FILE` or a NAME alone for secrets. */
async function environmentOf(
  cli: Cli,
  words: readonly string[],
): Promise<Record<string, string> | undefined> {
  if (words.length === 0) return undefined;
  const env: Record<string, string> = {};
  for (const word of words) {
    const [, name, value] = /^([^=\s]+)(?:=(.*))?$/su.exec(word) ?? [];
    if (name === undefined) throw usage(`${JSON.stringify(word)} is no variable: write --env NAME=TEXT.`);
    if (value === undefined) env[name] = await readSecret(cli, `value of ${name}`);
    else env[name] = value.startsWith('@') ? (await readText(cli, value.slice(1))).trim() : value;
  }
  return env;
}

/** What distinguishes writes; a receipt's key must not depend on a secret, not even on its hash. */
const withoutSecrets = (body: UpdateMcpServerInput): string =>
  JSON.stringify({
    ...body,
    headers: body.headers && Object.keys(body.headers),
    env: body.env && Object.keys(body.env),
  });
