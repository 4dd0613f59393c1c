/** Whether an app lets this console show its previews in a frame. */
import type { Settings } from '@headrace/client';

type Own = Pick<Settings, 'preview'>;

/** Who may frame previews; null leaves that to what the preview itself sends. */
export const ancestorsOf = (app: Own, organization: Own | undefined): string[] | null =>
  app.preview?.frameAncestors ?? organization?.preview?.frameAncestors ?? null;

/** Whether a list of `frame-ancestors` has this origin, as a browser reads it. */
export function mayFrame(ancestors: readonly string[], origin: string): boolean {
  return ancestors.some((source) => isMatch(source.toLowerCase(), new URL(origin)));
}

const PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' };

function isMatch(source: string, { protocol, hostname, port }: URL): boolean {
  if (source === '*') return true;
  if (/^[a-z][a-z0-9+.-]*:$/.test(source)) return isScheme(source, protocol);
  const parts =
    /^(?:([a-z][a-z0-9+.-]*:)\/\/)?(\*|(?:\*\.)?[^/:*']+|\[[^\]]+\])(?::(\d+|\*))?(?:\/.*)?$/.exec(source);
  if (!parts) return false;
  const [, scheme, host, wantedPort] = parts;
  if (scheme ? !isScheme(scheme, protocol) : !isScheme('http:', protocol)) return false;
  const isHost =
    host === '*' || (host!.startsWith('*.') ? hostname.endsWith(host!.slice(1)) : hostname === host);
  const own = port || PORTS[protocol];
  return isHost && (wantedPort === '*' || own === (wantedPort ?? PORTS[protocol]));
}

/** A list that says http lets https in, too. */
const isScheme = (wanted: string, protocol: string): boolean =>
  wanted === protocol || (wanted === 'http:' && protocol === 'https:');

/** The address of a page of the preview; null for what is no address of its own host. */
export function addressOf(url: string, path: string): string | null {
  try {
    const base = new URL(url);
    const address = new URL(path.startsWith('/') ? path : `/${path}`, base);
    return /^https?:$/.test(base.protocol) && address.origin === base.origin ? address.href : null;
  } catch {
    return null;
  }
}
