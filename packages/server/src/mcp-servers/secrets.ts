/** Values of headers and environment variables: sealed, bound to their organization and server. */
import type { McpServerRow } from '../db/schema.ts';
import { seal, unseal } from '../sealing.ts';

export const PURPOSE = 'headrace mcp servers';
const placeOf = ({ org_id, id }: Pick<McpServerRow, 'org_id' | 'id'>) => `${org_id} ${id}`;

/** The columns that hold them; header names are the same in any case. */
export function sealSecrets(
  secretKey: Buffer,
  server: Pick<McpServerRow, 'org_id' | 'id' | 'transport'>,
  given: Record<string, string>,
): Pick<McpServerRow, 'secret_names' | 'secrets_sealed'> {
  const entries = Object.entries(given).map(
    ([name, value]) => [server.transport === 'http' ? name.toLowerCase() : name, value] as const,
  );
  return {
    secret_names: entries.map(([name]) => name).sort(),
    secrets_sealed: entries.length
      ? seal(secretKey, PURPOSE, placeOf(server), JSON.stringify(Object.fromEntries(entries)))
      : null,
  };
}

/**
 * Throws when the service's secret is another one, or the row was moved to another organization or server.
 */
export function openSecrets(
  secretKey: Buffer,
  server: Pick<McpServerRow, 'org_id' | 'id' | 'secrets_sealed'>,
): Record<string, string> {
  return server.secrets_sealed === null
    ? {}
    : (JSON.parse(unseal(secretKey, PURPOSE, placeOf(server), server.secrets_sealed)) as Record<
        string,
        string
      >);
}
