/** What a server's fields have to say together. */
import { isPrivateHost } from '@headrace/runner/addresses';
import { invalid } from '../http/errors.ts';
import type { Field } from '../http/errors.ts';
import type { McpServerRow } from '../db/schema.ts';
import type { McpServerChange } from './schemas.ts';

type Stored = Pick<McpServerRow, 'transport' | 'url' | 'command' | 'secret_names'>;

/** A server's columns after a change; `secrets` undefined: those that are stored stay. */
interface Definition extends Pick<Stored, 'transport' | 'url' | 'command'> {
  secrets: Record<string, string> | undefined;
}

const FIELDS = { http: ['url', 'headers'], stdio: ['command', 'env'] } as const;

/** Set by the connection, or by the agent's MCP client. */
const TAKEN =
  /^(accept|accept-encoding|connection|content-encoding|content-length|content-type|expect|host|keep-alive|last-event-id|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * The server as `change` makes it of what is stored (null: a new one). A change of transport leaves nothing
 * of the other one. Throws 400 with all faults.
 */
export function define(stored: Stored | null, change: McpServerChange, allowPrivate: boolean): Definition {
  const transport = change.transport ?? stored!.transport;
  const kept = stored?.transport === transport ? stored : null;
  const url = transport === 'http' ? (change.url ?? kept?.url ?? null) : null;
  const command = transport === 'stdio' ? (change.command ?? kept?.command ?? null) : null;
  const secrets = transport === 'http' ? change.headers : change.env;
  const foreign = FIELDS[transport === 'http' ? 'stdio' : 'http']
    .filter((field) => change[field] !== undefined)
    .map((field) => ({ path: `/${field}`, message: `is not a field of the transport ${transport}` }));
  const missing =
    (url ?? command) === null ? [{ path: `/${FIELDS[transport][0]}`, message: 'is required' }] : [];
  const faults = [
    ...foreign,
    ...missing,
    ...(change.url !== undefined && url !== null ? urlFaults(change.url, allowPrivate) : []),
    ...headerFaults(change.headers ?? {}),
  ];
  if (!faults.length && kept?.secret_names.length && secrets === undefined)
    faults.push(...originFaults(kept.url, url));
  if (faults.length) throw invalid(...faults);
  return { transport, url, command, secrets: secrets ?? (kept ? undefined : {}) };
}

function urlFaults(text: string, allowPrivate: boolean): Field[] {
  const fault = (message: string) => [{ path: '/url', message }];
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return fault('must be an http or https URL');
  if (url.username || url.password) return fault('must not contain credentials; put them into headers');
  if (!allowPrivate && isPrivateHost(url.hostname))
    return fault('must not be a loopback, private, link-local or metadata address');
  return [];
}

function headerFaults(headers: Record<string, string>): Field[] {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  const at = (name: string) => `/headers/${name.replaceAll('~', '~0')}`;
  return [
    ...names
      .filter((name) => TAKEN.test(name))
      .map((name) => ({ path: at(name), message: 'is set by the service or the agent' })),
    ...names
      .filter((name, i) => lower.indexOf(name.toLowerCase()) !== i)
      .map((name) => ({ path: at(name), message: 'is given twice' })),
  ];
}

/** Stored values were meant for one origin: a change of the URL must not send them to another. */
function originFaults(before: string | null, after: string | null): Field[] {
  if (before === null || after === null || new URL(before).origin === new URL(after).origin) return [];
  return [{ path: '/headers', message: 'have to be sent again with a URL of another origin' }];
}
