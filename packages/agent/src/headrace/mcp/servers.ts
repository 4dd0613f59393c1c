import type { Settings } from '../settings.ts';

export type McpServer =
  | { kind: 'http'; name: string; url: string; headers: Record<string, string> }
  | { kind: 'stdio'; name: string; command: string; args: string[]; env: Record<string, string> };

const SERVERS = 20;

/** The `mcpServers` of session/new and session/load, without entries of an unknown form. */
export function mcpServersOf(value: unknown): McpServer[] {
  return (Array.isArray(value) ? (value as Record<string, unknown>[]) : [])
    .slice(0, SERVERS)
    .flatMap((entry): McpServer[] => {
      const name = typeof entry?.['name'] === 'string' ? entry['name'] : 'server';
      if (typeof entry?.['url'] === 'string')
        return [{ kind: 'http', name, url: entry['url'], headers: pairs(entry['headers']) }];
      if (typeof entry?.['command'] === 'string')
        return [
          {
            kind: 'stdio',
            name,
            command: entry['command'],
            args: Array.isArray(entry['args']) ? entry['args'].map(String) : [],
            env: pairs(entry['env']),
          },
        ];
      return [];
    });
}

/** ACP uses lists of { name, value }. */
function pairs(value: unknown): Record<string, string> {
  return Object.fromEntries(
    (Array.isArray(value) ? (value as { name?: unknown; value?: unknown }[]) : []).map((pair) => [
      text(pair?.name),
      text(pair?.value),
    ]),
  );
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Only requests to the gateway use its socket. */
export function socketFor(url: string, { gateway, socketPath }: Settings): string | undefined {
  return new URL(url).origin === new URL(gateway).origin ? socketPath : undefined;
}
