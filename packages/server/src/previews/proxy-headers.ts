/**
 * What passes between a visitor and a preview: nothing of the service's own, and nothing that belongs to
 * one connection only.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { isServiceKey } from '../accounts/index.ts';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const SESSION_COOKIE = /^\s*headrace_session\s*=/;
/** What one host may say of others: to log their visitors out, or to ask for them elsewhere. */
const BEYOND_ITS_HOST = new Set(['clear-site-data', 'alt-svc']);

/**
 * Never of one connection only, whatever it says: without its length a body would be read as a request of
 * its own.
 */
const END_TO_END = new Set(['content-length', 'host']);

function hopsOf(connection: string | undefined): Set<string> {
  const named = (connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return new Set([...HOP_BY_HOP, ...named.filter((name) => !END_TO_END.has(name))]);
}

const namesKey = (text: string) => text.split(/[\s,]+/).some(isServiceKey);

/**
 * A request's headers for the preview's server. Its body's framing is kept, an upgrade only where it is a
 * WebSocket's.
 */
export function toPreview(
  request: IncomingMessage,
  { isUpgrade }: { isUpgrade: boolean },
): OutgoingHttpHeaders {
  const { headers } = request;
  const hops = hopsOf(headers.connection);
  const sent: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers))
    if (!hops.has(name) && name !== 'expect' && name !== 'x-api-key' && name !== 'cookie') sent[name] = value;
  if (namesKey(headers.authorization ?? '')) delete sent.authorization;
  const cookie = (headers.cookie ?? '')
    .split(';')
    .filter((part) => part.trim() !== '' && !SESSION_COOKIE.test(part))
    .map((part) => part.trim())
    .join('; ');
  if (cookie) sent.cookie = cookie;
  if (headers['transfer-encoding'] !== undefined) {
    // One framing only: Node takes a length beside chunks for an attack, and so would others.
    delete sent['content-length'];
    sent['transfer-encoding'] = 'chunked';
  }
  if (isUpgrade) for (const name of ['content-length', 'transfer-encoding']) delete sent[name];
  Object.assign(sent, forwarded(request));
  // Not `close`, though it will be: a server that answers before it has read the body would reset the
  // connection, and its answer with it.
  return {
    ...sent,
    connection: isUpgrade ? 'Upgrade' : 'keep-alive',
    ...(isUpgrade ? { upgrade: 'websocket' } : {}),
  };
}

function forwarded({ headers, socket }: IncomingMessage): IncomingHttpHeaders {
  const before = headers['x-forwarded-for'];
  return {
    'x-forwarded-for': [
      ...(before === undefined ? [] : [String(before)]),
      socket.remoteAddress ?? 'unknown',
    ].join(', '),
    'x-forwarded-host': String(headers['x-forwarded-host'] ?? headers.host),
    'x-forwarded-proto': String(headers['x-forwarded-proto'] ?? 'http'),
  };
}

/**
 * A preview's answer for its visitor. Its cookies are its own host's: none may reach the service's, nor
 * another preview's. The address is the secret: what the app does not say of referrers keeps it from other
 * hosts. Where `frameAncestors` is set it decides who may frame the preview, and nothing that the app says
 * of that; null leaves it to the app.
 */
export function toVisitor(
  answer: IncomingMessage,
  frameAncestors: string[] | null,
): Record<string, string[]> {
  const hops = hopsOf(answer.headers.connection);
  const sent: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(answer.headersDistinct))
    if (!hops.has(name) && !BEYOND_ITS_HOST.has(name)) sent[name] = values!;
  if (sent['set-cookie'])
    sent['set-cookie'] = sent['set-cookie']
      .filter((cookie) => !SESSION_COOKIE.test(cookie))
      .map((cookie) => cookie.replace(/;\s*domain\s*(=[^;]*)?(?=;|$)/gi, ''));
  sent['referrer-policy'] ??= ['same-origin'];
  if (frameAncestors) {
    delete sent['x-frame-options'];
    // A further policy: all of them hold.
    sent['content-security-policy'] = [
      ...(sent['content-security-policy'] ?? []).map(withoutAncestors).filter(Boolean),
      `frame-ancestors ${frameAncestors.length ? frameAncestors.join(' ') : "'none'"}`,
    ];
  }
  return sent;
}

/** A header of policies (`,`) of directives (`;`), but for what they say of ancestors. */
const withoutAncestors = (header: string) =>
  header
    .split(',')
    .map((policy) =>
      policy
        .split(';')
        .filter((directive) => !/^\s*frame-ancestors(\s|$)/i.test(directive))
        .join(';')
        .trim(),
    )
    .filter(Boolean)
    .join(', ');
