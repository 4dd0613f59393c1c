// A stand-in until the domain's own index is here: MCP replaces this file.
import type { TurnMcpServer } from '@headrace/runner/protocol';

export async function mcpServersOf(_ctx: unknown, _project: { org_id: string; id: string }, _token: string): Promise<TurnMcpServer[]> { return []; }
