import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createMcpServer } from './create-mcp-server.ts';
import { deleteMcpServer } from './delete-mcp-server.ts';
import { getMcpServer } from './get-mcp-server.ts';
import { listMcpServers } from './list-mcp-servers.ts';
import { updateMcpServer } from './update-mcp-server.ts';

export const routes: Route[] = [
  directRoute('POST', '/mcp-servers', createMcpServer),
  directRoute('GET', '/mcp-servers', listMcpServers),
  directRoute('GET', '/mcp-servers/:mcpServerId', getMcpServer),
  directRoute('PATCH', '/mcp-servers/:mcpServerId', updateMcpServer),
  directRoute('DELETE', '/mcp-servers/:mcpServerId', deleteMcpServer),
];
