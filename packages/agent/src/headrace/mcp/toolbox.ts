import type { OfferedTool } from '../offered-tool.ts';
import type { Settings } from '../settings.ts';
import type { Connection } from './connect.ts';
import type { McpServer } from './servers.ts';

const TOOLS = 100,
  REASON_CHARACTERS = 300;

/** The tools of a session's MCP servers. Connecting begins at once; the first turn waits for it. */
export class McpToolbox {
  readonly #connections: Promise<Connection[]>;
  /** Servers that do not answer, each with its reason. */
  readonly missing: string[] = [];

  constructor(servers: McpServer[], settings: Settings) {
    this.#connections = servers.length === 0 ? Promise.resolve([]) : this.#connect(servers, settings);
  }

  /** Never fails; leaves out names that are already taken. */
  async tools(taken: Iterable<string>): Promise<OfferedTool[]> {
    const names = new Set(taken);
    const all = (await this.#connections).flatMap((connection) => connection.tools);
    return all.filter(({ name }) => !names.has(name) && names.add(name)).slice(0, TOOLS);
  }

  async close(): Promise<void> {
    await Promise.all((await this.#connections).map((connection) => connection.close()));
  }

  async #connect(servers: McpServer[], settings: Settings): Promise<Connection[]> {
    const { connectServer } = await import('./connect.ts');
    const connections = await Promise.all(
      servers.map((server) =>
        connectServer(server, settings).catch((error: unknown) => {
          this.missing.push(
            `${server.name} (${(error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARACTERS)})`,
          );
          return undefined;
        }),
      ),
    );
    return connections.filter((connection) => connection !== undefined);
  }
}
