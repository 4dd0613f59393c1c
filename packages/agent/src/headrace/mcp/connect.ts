import { createMCPClient, type MCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { httpFetch } from '../http-fetch.ts';
import type { OfferedTool } from '../offered-tool.ts';
import { childEnvironment, type Settings } from '../settings.ts';
import type { Image, ToolResult } from '../tools/tool.ts';
import { socketFor, type McpServer } from './servers.ts';

const CONNECT_MS = 10_000,
  CALL_MS = 300_000,
  CLOSE_MS = 1000;
const TOOLS_PER_SERVER = 60,
  NAME_CHARACTERS = 64,
  DESCRIPTION_CHARACTERS = 4000,
  SCHEMA_CHARACTERS = 20_000;

export interface Connection {
  tools: OfferedTool[];
  close(): Promise<void>;
}

/** Connects and lists the tools. Throws when that fails or takes longer than 10 s. */
export async function connectServer(server: McpServer, settings: Settings): Promise<Connection> {
  const signal = AbortSignal.timeout(CONNECT_MS);
  const started = createMCPClient({
    transport: transportOf(server, settings),
    clientName: 'headrace',
    maxRetries: 0,
    initializationOptions: { signal, timeout: CONNECT_MS },
    onUncaughtError: () => undefined,
  });
  const client = await within(
    started,
    CONNECT_MS,
    () => void started.then((late) => late.close()).catch(() => undefined),
  );
  try {
    const { tools } = await within(
      client.listTools({ options: { signal, timeout: CONNECT_MS } }),
      CONNECT_MS,
    );
    const offered = tools
      .slice(0, TOOLS_PER_SERVER)
      .filter((tool) => JSON.stringify(tool.inputSchema).length <= SCHEMA_CHARACTERS)
      .map((tool) => offer(client, server.name, tool));
    return { tools: offered, close: () => within(client.close(), CLOSE_MS).catch(() => undefined) };
  } catch (error) {
    void client.close().catch(() => undefined);
    throw error;
  }
}

function transportOf(
  server: McpServer,
  settings: Settings,
): Parameters<typeof createMCPClient>[0]['transport'] {
  if (server.kind === 'http')
    return {
      type: 'http',
      url: server.url,
      headers: server.headers,
      fetch: httpFetch(socketFor(server.url, settings)),
    };
  const env = Object.fromEntries(
    Object.entries({ ...childEnvironment(process.env), ...server.env }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  return new StdioTransport({
    command: server.command,
    args: server.args,
    env,
    cwd: process.cwd(),
    stderr: 'ignore',
  });
}

type McpTool = Awaited<ReturnType<MCPClient['listTools']>>['tools'][number];

function offer(client: MCPClient, server: string, { name, description, inputSchema }: McpTool): OfferedTool {
  return {
    name: `${clean(server)}__${clean(name)}`.slice(0, NAME_CHARACTERS),
    description: (description ?? name).slice(0, DESCRIPTION_CHARACTERS),
    schema: inputSchema,
    isOwn: false,
    kind: 'other',
    hasEffects: true,
    title: () => `${server}: ${name}`,
    run: async (input) =>
      resultOf(
        await client.callTool({
          name,
          arguments: input,
          options: { timeout: CALL_MS, maxTotalTimeout: CALL_MS },
        }),
      ),
  };
}

/** All three wires accept these characters in names. */
const clean = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_');

function resultOf(result: Awaited<ReturnType<MCPClient['callTool']>>): ToolResult {
  const { content, isError, structuredContent } = result as {
    content?: unknown;
    isError?: boolean;
    structuredContent?: unknown;
  };
  const images: Image[] = [];
  const texts = (Array.isArray(content) ? (content as Record<string, unknown>[]) : []).map((part) => {
    if (part['type'] === 'text') return String(part['text']);
    if (part['type'] === 'image') {
      images.push({ mediaType: String(part['mimeType']), data: String(part['data']) });
      return '[an image, shown in the next message]';
    }
    return JSON.stringify(part);
  });
  const text =
    texts.join('\n') || (structuredContent === undefined ? '[no output]' : JSON.stringify(structuredContent));
  return { text, isError: isError === true, images };
}

async function within<T>(work: Promise<T>, ms: number, late?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late?.();
      reject(new Error(`no answer within ${ms / 1000} s`));
    }, ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
