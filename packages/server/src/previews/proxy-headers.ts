/**
 * The headers that pass between a visitor and a preview: none of the service, and none that belong to one
 * connection only.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { namesServiceKey } from '../accounts/index.ts';

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
/** Headers that are for the service, or that it writes itself. */
const OURS = new Set(['expect', 'x-api-key', 'cookie']);
const SESSION_COOKIE = /^\s*headrace_session\s*=/;
/** Headers by which one host affects others: logs their visitors out, or sends them elsewhere. */
const BEYOND_ITS_HOST = new Set(['clear-site-data', 'alt-svc']);

/**
 * Headers that pass even where `Connection` names them: without its length a body would be read as another
 * request.
 */
const END_TO_END = new Set(['content-length', 'host']);

function hopsOf(connection: string | undefined): Set<string> {
  const named = (connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return new Set([...HOP_BY_HOP, ...named.filter((name) => !END_TO_END.has(name))]);
}

/**
 * Whether a service key is in a header, however it is written: in quotes, percent-encoded, as a password in
 * base64. Without their check digits keys are as secret.
 */
function namesKey(value: string): boolean {
  const plain = value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const decoded = plain
    .split(/[^A-Za-z0-9+/=_-]+/)
    .map((word) => Buffer.from(word, 'base64').toString('latin1'));
  return [plain, ...decoded].some(namesServiceKey);
}

/**
 * A request's headers for the preview's server. The body's framing is kept; an upgrade only for a WebSocket.
 */
export function toPreview(
  request: IncomingMessage,
  { isUpgrade }: { isUpgrade: boolean },
): OutgoingHttpHeaders {
  const { headers } = request;
  const hops = hopsOf(headers.connection);
  const sent: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers))
    if (!hops.has(name) && !OURS.has(name) && !namesKey([value].flat().join(' '))) sent[name] = value;
  const cookie = (headers.cookie ?? '')
    .split(';')
    .filter((part) => part.trim() !== '' && !SESSION_COOKIE.test(part) && !namesKey(part))
    .map((part) => part.trim())
    .join('; ');
  if (cookie) sent.cookie = cookie;
  if (headers['transfer-encoding'] !== undefined) {
    // One framing only: Node, like other servers, takes a length together with chunks for an attack.
    delete sent['content-length'];
    sent['transfer-encoding'] = 'chunked';
  }
  if (isUpgrade) for (const name of ['content-length', 'transfer-encoding']) delete sent[name];
  Object.assign(sent, forwarded(request));
  // Not `close`, although the connection is closed: a server that answers before it has read the body would
  // reset the connection, and lose its answer.
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
 * The headers of a preview's answer for its visitor. Cookies are for the preview's own host: none may reach
 * the service or another preview. The address is a secret: unless the app sets a referrer policy, no other
 * host sees it. `frameAncestors` decides who may frame the preview, whatever the app says; null leaves that
 * to the app.
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
    // Added as another policy: all of them apply.
    sent['content-security-policy'] = [
      ...(sent['content-security-policy'] ?? []).map(withoutAncestors).filter(Boolean),
      `frame-ancestors ${frameAncestors.length ? frameAncestors.join(' ') : "'none'"}`,
    ];
  }
  return sent;
}

/** Removes `frame-ancestors` from a header of policies, separated by `,`, of directives, separated by `;`. */
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
