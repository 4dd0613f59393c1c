/** Where git reaches a repository at GitHub, with a credential in the environment alone. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPrivateAddress } from '@headrace/runner/addresses';
import type { Provider } from '../provider.ts';
import { ProviderError } from '../provider.ts';
import { askRepository } from './ask.ts';
import { getRepository } from './repositories.ts';

/** Slower than this many bytes a second for this many seconds: it is over. */
const LEAST_SPEED = 1_000;
const SLOW_SECONDS = 60;

export const gitTransport: Provider['gitTransport'] = (at, { isRetry = false } = {}) =>
  askRepository(at, async (connection) => {
    const { tokens, site } = connection;
    const given = await tokens.get();
    const token = isRetry ? ((await tokens.afterRefusal(given.value)) ?? given) : given;
    // git follows no redirect, so what was renamed is reached by its new name.
    const fullName = isRetry ? (await getRepository(at)).fullName : at.repository.full_name;
    const origin = new URL(site);
    const basic = Buffer.from(`x-access-token:${token.value}`).toString('base64');
    return {
      url: `${site}/${fullName}.git`,
      env: environmentOf([
        [`http.${site}/.extraHeader`, `Authorization: Basic ${basic}`],
        ['http.followRedirects', 'false'],
        ['http.lowSpeedLimit', String(LEAST_SPEED)],
        ['http.lowSpeedTime', String(SLOW_SECONDS)],
        ['credential.helper', ''],
        ['protocol.allow', 'never'],
        [`protocol.${origin.protocol.slice(0, -1)}.allow`, 'always'],
        ...(at.ctx.config.scm.allowPrivate ? [] : await pinned(origin)),
      ]),
      folder: null,
    };
  });

const environmentOf = (settings: [string, string][]): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  ),
});

/** git looks names up by itself: it gets the addresses that were judged, and connects to none but these. */
async function pinned({ hostname, port, protocol }: URL): Promise<[string, string][]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host)
    ? [{ address: host }]
    : await lookup(host, { all: true }).catch(() => {
        throw new ProviderError({ code: 'unavailable' }, 'the host of git has no address');
      });
  if (found.some(({ address }) => isPrivateAddress(address)))
    throw new ProviderError({ code: 'unavailable' }, 'the host of git has a private address');
  if (isIP(host)) return [];
  const at = found.map(({ address }) => (isIP(address) === 6 ? `[${address}]` : address)).join(',');
  return [['http.curloptResolve', `${host}:${port || (protocol === 'https:' ? 443 : 80)}:${at}`]];
}
