/** What passes between a visitor and a preview: nothing of the service's own, and nothing that belongs to one connection only. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { isServiceKey } from '../accounts/index.ts';

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']);
const SESSION_COOKIE = /^\s*headrace_session=/;

function hopsOf(connection: string | undefined): Set<string> {
  return new Set([...HOP_BY_HOP, ...(connection ?? '').split(',').map((name) => name.trim().toLowerCase())]);
}

const namesKey = (text: string) => text.split(/[\s,]+/).some(isServiceKey);

/** A request's headers for the preview's server. Its body's framing is kept, an upgrade only where it is a WebSocket's. */
export function toPreview(request: IncomingMessage, { isUpgrade }: { isUpgrade: boolean }): OutgoingHttpHeaders {
  const { headers } = request;
  const hops = hopsOf(headers.connection);
  const sent: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) if (!hops.has(name) && name !== 'expect' && name !== 'x-api-key' && name !== 'cookie') sent[name] = value;
  if (namesKey(headers.authorization ?? '')) delete sent.authorization;
  const cookie = (headers.cookie ?? '').split(';').filter((part) => part.trim() !== '' && !SESSION_COOKIE.test(part)).map((part) => part.trim()).join('; ');
  if (cookie) sent.cookie = cookie;
  if (headers['transfer-encoding'] !== undefined) {
    // One framing only: Node takes a length beside chunks for an attack, and so would others.
    delete sent['content-length'];
    sent['transfer-encoding'] = 'chunked';
  }
  Object.assign(sent, forwarded(request));
  return { ...sent, connection: isUpgrade ? 'Upgrade' : 'close', ...(isUpgrade ? { upgrade: 'websocket' } : {}) };
}

function forwarded({ headers, socket }: IncomingMessage): IncomingHttpHeaders {
  const before = headers['x-forwarded-for'];
  return {
    'x-forwarded-for': [...(before === undefined ? [] : [String(before)]), socket.remoteAddress ?? 'unknown'].join(', '),
    'x-forwarded-host': String(headers['x-forwarded-host'] ?? headers.host), 'x-forwarded-proto': String(headers['x-forwarded-proto'] ?? 'http'),
  };
}

/** A preview's answer for its visitor. Its cookies are its own host's: none may reach the service's. */
export function toVisitor(answer: IncomingMessage, frameAncestors: string[] | null): Record<string, string[]> {
  const hops = hopsOf(answer.headers.connection);
  const sent: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(answer.headersDistinct)) if (!hops.has(name)) sent[name] = values!;
  if (sent['set-cookie']) sent['set-cookie'] = sent['set-cookie'].filter((cookie) => !SESSION_COOKIE.test(cookie)).map((cookie) => cookie.replace(/;\s*domain\s*=[^;]*/gi, ''));
  // A second policy: both hold.
  if (frameAncestors) sent['content-security-policy'] = [...(sent['content-security-policy'] ?? []), `frame-ancestors ${frameAncestors.length ? frameAncestors.join(' ') : "'none'"}`];
  return sent;
}
