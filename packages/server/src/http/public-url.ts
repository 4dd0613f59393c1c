import type { Context } from '../context.ts';

/** Where clients reach the API, without a last slash. */
export function publicUrl({ config, listening }: Pick<Context, 'config' | 'listening'>): string {
  const { host } = config;
  return config.publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
}
