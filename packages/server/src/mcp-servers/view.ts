import type { McpServerRow } from '../db/schema.ts';

/** Names of headers and variables; their values are not in the row in clear. */
export const mcpServerView = (s: McpServerRow) => ({
  id: s.id,
  orgId: s.org_id,
  name: s.name,
  transport: s.transport,
  url: s.url,
  command: s.command,
  headers: s.transport === 'http' ? s.secret_names : [],
  env: s.transport === 'stdio' ? s.secret_names : [],
  projectIds: s.project_ids,
  createdAt: s.created_at.toISOString(),
  updatedAt: s.updated_at.toISOString(),
});
