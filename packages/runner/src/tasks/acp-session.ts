import type { McpServer } from '@agentclientprotocol/sdk';
import type { TurnAgent, TurnMcpServer } from '../protocol.ts';
import { isObject, type AcpConnection, type Params } from './acp-connection.ts';
import { AcpFault, RPC, RpcError } from './acp-fault.ts';

/** How long an agent may take to answer; opening a session includes starting its tools. */
export const ANSWER_MS = { initialize: 60_000, session: 120_000, other: 30_000 };
const PROTOCOL_VERSION = 1;

export interface Session {
  id: string;
  /** Whether the session resumes an earlier one. */
  isLoaded: boolean;
  takes: { image: boolean; embeddedContext: boolean };
  steerable: boolean;
  /** Ids of the modes and models that a new session offered. */
  offers: { modes: string[]; models: string[] };
}

/** How to open a session. `mode`: the one to set; null: the agent's own. */
export interface Opening {
  agent: Pick<TurnAgent, 'name' | 'env' | 'mode'>;
  /** The folder that the agent works in, as it sees it. */
  cwd: string;
  mcpServers?: TurnMcpServer[] | undefined;
}

/**
 * Initializes the agent and opens its session: the previous one if the agent can load it, otherwise a new
 * one. Throws AcpFault, RpcError.
 */
export async function openSession(
  connection: AcpConnection,
  { agent, cwd, mcpServers = [] }: Opening,
  before: string | null,
): Promise<Session> {
  const told = await connection.request(
    'initialize',
    {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'headrace', version: '1' },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    },
    ANSWER_MS.initialize,
  );
  if (told['protocolVersion'] !== PROTOCOL_VERSION)
    throw new AcpFault(
      `The agent speaks version ${JSON.stringify(told['protocolVersion'] ?? null)} of the Agent Client ` +
        `Protocol, not ${PROTOCOL_VERSION}.`,
    );
  const can = field(told, 'agentCapabilities'),
    takes = field(can, 'promptCapabilities');
  const common = {
    cwd,
    mcpServers: serversFor(mcpServers, field(can, 'mcpCapabilities')['http'] === true, agent.name),
  };
  const loaded =
    before !== null && can['loadSession'] === true
      ? await load(connection, { ...common, sessionId: before })
      : undefined;
  const opened =
    loaded ??
    (await connection.request('session/new', common, ANSWER_MS.session).catch(async (error: unknown) => {
      if (!(error instanceof RpcError && error.code === RPC.authRequired)) throw error;
      await authenticate(connection, told['authMethods'], agent.env, error);
      return connection.request('session/new', common, ANSWER_MS.session);
    }));
  const id = loaded ? before : opened['sessionId'];
  if (typeof id !== 'string' || id === '') throw new AcpFault('The agent opened no session.');
  if (agent.mode !== null) await setMode(connection, id, agent.mode, field(opened, 'modes'));
  return {
    id,
    isLoaded: loaded !== undefined,
    takes: { image: takes['image'] === true, embeddedContext: takes['embeddedContext'] === true },
    steerable: field(can, '_meta')['headrace/steer'] === true,
    offers: {
      modes: idsIn(field(opened, 'modes')['availableModes'], 'id'),
      models: idsIn(field(opened, 'models')['availableModels'], 'modelId'),
    },
  };
}

/** Undefined when the agent no longer has the session. */
async function load(connection: AcpConnection, params: { sessionId: string }): Promise<Params | undefined> {
  return connection.request('session/load', params, ANSWER_MS.session).catch((error: unknown) => {
    if (error instanceof RpcError) return undefined;
    throw error;
  });
}

/** Signs in without a person: by a method that uses a key from the configuration. */
async function authenticate(
  connection: AcpConnection,
  offered: unknown,
  env: Record<string, string>,
  refusal: Error,
): Promise<void> {
  const methods = Array.isArray(offered) ? offered.filter(isObject) : [];
  const silent = methods.filter((method) => method['type'] !== 'terminal' && goesByKey(method, env));
  for (const { id } of silent) {
    if (
      await connection.request('authenticate', { methodId: id }, ANSWER_MS.other).then(
        () => true,
        (error: unknown) => {
          if (error instanceof RpcError) return false;
          throw error;
        },
      )
    )
      return;
  }
  const names = methods
    .map(({ id }) => String(id))
    .join(', ')
    .slice(0, 300);
  throw new AcpFault(
    `The agent wants to be signed in (${refusal.message})${names && `; it offers ${names}`}. Give it ` +
      'its key by `env` or `home` in the configuration.',
  );
}

function goesByKey(method: Params, env: Record<string, string>): boolean {
  const names = Array.isArray(method['vars'])
    ? method['vars'].map((one) => (isObject(one) ? one['name'] : one))
    : [];
  return names.length > 0
    ? names.every((name) => typeof name === 'string' && Object.hasOwn(env, name))
    : /key|token|env/i.test(String(method['id']));
}

async function setMode(
  connection: AcpConnection,
  sessionId: string,
  mode: string,
  { currentModeId, availableModes }: Params,
): Promise<void> {
  if (currentModeId === mode) return;
  const modes = idsIn(availableModes, 'id');
  if (!modes.includes(mode))
    throw new AcpFault(
      `The agent has no mode ${mode}` +
        `${modes.length > 0 ? `; it has ${modes.join(', ').slice(0, 300)}` : ''}. Change \`mode\` in the ` +
        'configuration.',
    );
  await connection.request('session/set_mode', { sessionId, modeId: mode }, ANSWER_MS.other);
}

const idsIn = (list: unknown, name: string): string[] =>
  (Array.isArray(list) ? list : []).flatMap((one) => (isObject(one) ? [String(one[name])] : []));

function serversFor(servers: TurnMcpServer[], takesHttp: boolean, agent: string): McpServer[] {
  const pairs = (values: Record<string, string>) =>
    Object.entries(values).map(([name, value]) => ({ name, value }));
  return servers.flatMap((server): McpServer[] => {
    if (server.transport === 'stdio')
      return [
        {
          name: server.name,
          command: server.command[0] ?? '',
          args: server.command.slice(1),
          env: pairs(server.env),
        },
      ];
    if (takesHttp)
      return [{ type: 'http', name: server.name, url: server.url, headers: pairs(server.headers) }];
    process.stderr.write(
      `The agent ${agent} takes no MCP servers over HTTP: it goes without ${server.name}.\n`,
    );
    return [];
  });
}

function field(object: Params, name: string): Params {
  const value = object[name];
  return isObject(value) ? value : {};
}
