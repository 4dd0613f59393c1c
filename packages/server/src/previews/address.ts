/** The addresses of previews: a token in place of the `*` of one address for all. */
import type { Context } from '../context.ts';

type Settings = Pick<Context['config'], 'previewUrl' | 'previewDomain'>;

const patternOf = ({ previewUrl, previewDomain }: Settings) =>
  new URL(previewUrl ?? `http://*.${previewDomain}`);

/** Where a browser finds the preview: by default at the service's own listener. */
export function addressOf(ctx: Pick<Context, 'config' | 'listening'>, token: string): string {
  const pattern = patternOf(ctx.config);
  if (ctx.config.previewUrl === null) pattern.port = String(ctx.listening.port);
  return pattern.href.replace('*', token);
}

/**
 * A source of Content-Security-Policy that has the addresses of all previews. Its `*` has to come first: of
 * `https://app.*.example.com` it is `https://*.example.com`.
 */
export function sourceOfAll(ctx: Pick<Context, 'config' | 'listening'>): string {
  const { protocol, host } = new URL(addressOf(ctx, '*'));
  return `${protocol}//${host.slice(host.indexOf('*'))}`;
}

/** What reads a preview's token out of a Host header. The port does not matter: proxies have their own. */
export function tokenReader(config: Settings): (host: string | undefined) => string | undefined {
  const [before, after] = patternOf(config).hostname.split('*') as [string, string];
  return (host = '') => {
    const name = host.toLowerCase().replace(/:\d*$/, '');
    const token = name.slice(before.length, name.length - after.length);
    return TOKEN.test(token) && name === before + token + after ? token : undefined;
  };
}

const TOKEN = /^[0-9a-hjkmnp-tv-z]{26}$/;
