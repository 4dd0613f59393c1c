import { realpathSync } from 'node:fs';
import type { Client } from './client.ts';
import { useLightHeaders } from './light-headers.ts';
import { toldOf } from './instructions.ts';
import { McpToolbox } from './mcp/toolbox.ts';
import { mcpServersOf } from './mcp/servers.ts';
import type { Ask } from './model/model.ts';
import { userMessage } from './prompt.ts';
import { Session } from './session.ts';
import { ERRORS, RequestError, serveSessions, type Handlers } from './session-server.ts';
import { childEnvironment, readSettings } from './settings.ts';
import { Processes } from './tools/processes.ts';
import { SEARCH_THREAD } from './tools/search.ts';
import { answerSearch } from './tools/search-files.ts';
import { runTurn } from './turn.ts';

/**
 * The built-in agent of models: an ACP agent on stdio, in a sandbox, with the app's files as its working
 * folder. It reaches its model and MCP servers through the gateway that the environment names. It answers
 * `initialize` before it loads the model SDK.
 */
const PROTOCOL_VERSION = 1,
  CLOSE_MS = 1500;

function serve(): void {
  useLightHeaders();
  const root = realpathSync(process.cwd()),
    home = process.env['HOME'] || root;
  const processes = new Processes(childEnvironment(process.env));
  const sessions = new Map<string, Session>();
  let connecting: Promise<Ask> | undefined;
  const connected = (): Promise<Ask> =>
    (connecting ??= import('./model/model.ts').then(({ connectModel }) => connectModel(settings())));

  const open = (id: string, servers: unknown): Session => {
    const session = new Session(
      id,
      home,
      { root, context: process.env['HEADRACE_CONTEXT'] ?? '', processes, program: process.argv[1]! },
      new McpToolbox(mcpServersOf(servers), settings()),
    );
    sessions.set(id, session);
    return session;
  };
  const sessionOf = (id: unknown): Session => {
    const session = sessions.get(String(id));
    if (!session) throw new RequestError(ERRORS.notFound, `There is no session ${String(id)}.`);
    return session;
  };

  const handlers: Handlers = {
    initialize: () => {
      setImmediate(() => void connected().catch(() => undefined));
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true },
          _meta: { 'headrace/steer': true },
        },
        authMethods: [],
      };
    },
    'session/new': ({ mcpServers }) => ({ sessionId: open(newSessionId(), mcpServers).id }),
    'session/load': ({ sessionId, mcpServers }) => {
      const session = open(String(sessionId), mcpServers);
      if (session.load()) return {};
      sessions.delete(session.id);
      throw new RequestError(ERRORS.notFound, `There is no session ${session.id} to go on with.`);
    },
    'session/prompt': async ({ sessionId, prompt, _meta: meta }, client) =>
      take(sessionOf(sessionId), { prompt, meta }, client(String(sessionId)), connected),
    '_headrace/steer': async ({ sessionId, id, prompt }) => {
      if (typeof id !== 'string' || userMessage(prompt) === undefined)
        throw new RequestError(ERRORS.invalidParams, 'A message to steer with has an id and a prompt.');
      return { taken: await sessionOf(sessionId).steering.offer({ id, prompt }) };
    },
  };

  const end = async (code: number): Promise<void> => {
    processes.killAll();
    setTimeout(() => process.exit(code), CLOSE_MS).unref();
    await Promise.all([...sessions.values()].map((session) => session.mcp.close()));
    process.exit(code);
  };
  for (const [name, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const)
    process.once(name, () => void end(128 + number));
  serveSessions(handlers, () => void end(0));
}

/** Unique among the thread's sessions. node:crypto would take 13 ms to load. */
const newSessionId = () => `session-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 12)}`;
const settings = () => readSettings(process.env);

async function take(
  session: Session,
  { prompt, meta }: { prompt: unknown; meta: unknown },
  client: Client,
  connected: () => Promise<Ask>,
) {
  const message = userMessage(prompt);
  if (!message) throw new RequestError(ERRORS.invalidParams, 'The message is empty.');
  if (session.isBusy) throw new RequestError(ERRORS.invalidRequest, 'A turn of this session is under way.');
  session.isBusy = true;
  session.steering.open();
  try {
    return await runTurn({
      session,
      message,
      told: toldOf(meta),
      client,
      ask: await connected(),
      contextTokens: settings().contextTokens,
    });
  } finally {
    session.steering.close();
    session.isBusy = false;
  }
}

if (process.argv[2] === SEARCH_THREAD) void answerSearch();
else serve();
