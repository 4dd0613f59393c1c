/** What the form of an MCP server has, and what it sends. */
import type { CreateMcpServerInput, McpServer, UpdateMcpServerInput } from '@headrace/client';
import { secretsOf } from './secret-rows.tsx';
import type { SecretRow } from './secret-rows.tsx';

export interface Draft {
  name: string;
  transport: string;
  url: string;
  command: string;
  /** Null: those that are set stay. */
  secrets: SecretRow[] | null;
  /** Null: all apps and projects. */
  projectIds: string[] | null;
}

export const draftOf = (server: McpServer | null): Draft => ({
  name: server?.name ?? '',
  transport: server?.transport ?? 'http',
  url: server?.url ?? '',
  command: server?.command ?? '',
  secrets: server ? null : [],
  projectIds: server?.projectIds ?? null,
});

export const namesOf = (server: McpServer): string[] =>
  server.transport === 'http' ? server.headers : server.env;

const originOf = (url: string | null) => (url === null ? null : (URL.parse(url)?.origin ?? null));

/** What is set was meant for another place, so it cannot stay. */
export const isMoved = (server: McpServer, { transport, url }: Draft): boolean =>
  transport !== server.transport ||
  (transport === 'http' && namesOf(server).length > 0 && originOf(url) !== originOf(server.url));

/** None instead of none is no change, and needs not be sent. */
export const trimmed = (server: McpServer | null, draft: Draft): Draft =>
  draft.secrets?.length === 0 && (server === null || namesOf(server).length === 0)
    ? { ...draft, secrets: null }
    : draft;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** `secrets` are those of the draft, or others in their place. */
export function bodyOf(
  draft: Draft,
  secrets: Record<string, string> | null = draft.secrets && secretsOf(draft.secrets),
): CreateMcpServerInput {
  const isHttp = draft.transport === 'http';
  return {
    name: draft.name.trim(),
    transport: draft.transport as CreateMcpServerInput['transport'],
    ...(isHttp ? { url: draft.url.trim() } : { command: draft.command }),
    ...(secrets && (isHttp ? { headers: secrets } : { env: secrets })),
    ...(draft.projectIds && { projectIds: draft.projectIds }),
  };
}

/** Only what is another. */
export function changesOf(
  server: McpServer,
  draft: Draft,
  secrets?: Record<string, string>,
): UpdateMcpServerInput {
  const { name, transport, url, command, projectIds: _, ...written } = bodyOf(draft, secrets);
  return {
    ...(name !== server.name && { name }),
    ...(transport !== server.transport && { transport }),
    ...(url !== undefined && url !== server.url && { url }),
    ...(command !== undefined && command !== server.command && { command }),
    ...written,
    ...(!isSame(draft.projectIds, server.projectIds) && { projectIds: draft.projectIds }),
  };
}
