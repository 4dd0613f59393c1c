/**
 * What sandboxes of a project may reach, and what is said of what they may not. The runner's proxy holds them
 * to it.
 */
import type { JournalEntry, TaskRequest } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { EgressConfig } from '../egress-config.ts';
import type { EffectiveSettings } from './effective.ts';

/**
 * Where package managers get packages from: hosts that serve what their registry holds. No host is among
 * them where anybody may put files at an address of his own (GitHub, object storage), nor one that is asked
 * over plain HTTP (Debian's and Ubuntu's mirrors). npm and RubyGems take publications on the host that they
 * serve from, by anyone with an account there.
 */
export const REGISTRIES = [
  'registry.npmjs.org',
  'registry.yarnpkg.com', // npm, pnpm, Yarn
  'nodejs.org', // the headers that npm packages with native code are built with
  'pypi.org',
  'files.pythonhosted.org',
  'index.crates.io',
  'static.crates.io',
  'proxy.golang.org',
  'sum.golang.org',
  'rubygems.org',
  'index.rubygems.org',
  'repo.maven.apache.org',
  'repo1.maven.org',
];

/** Longer than any name in the DNS is what was no name. */
const HOST_CHARACTERS = 253;

/**
 * The part of a task's request that lets its sandbox out: empty without a network. The operator's registries
 * replace the public ones, and package managers find them in their variables.
 */
export function egressOf(
  { mode, hosts }: EffectiveSettings['egress'],
  { private: privateHosts, registries: { npm, pypi } }: EgressConfig,
): Pick<TaskRequest, 'egress' | 'privateHosts' | 'endpoints' | 'env'> {
  if (mode === 'none') return {};
  const own = mode === 'registries' ? [npm, pypi].filter((url) => url !== null) : [];
  const listed = mode === 'registries' && own.length === 0 ? [...REGISTRIES, ...hosts] : hosts;
  if (listed.length + own.length === 0) return {};
  return {
    ...(listed.length > 0 ? { egress: listed } : {}),
    ...(privateHosts.length > 0 ? { privateHosts } : {}),
    ...(own.length > 0
      ? { endpoints: own.map(endpointOf), env: { ...npmVariables(npm), ...pythonVariables(pypi) } }
      : {}),
  };
}

function endpointOf(registry: string): { host: string; port: number; tls: boolean } {
  const { protocol, hostname, port } = new URL(registry);
  const tls = protocol === 'https:';
  return { host: hostname, port: Number(port) || (tls ? 443 : 80), tls };
}

function npmVariables(registry: string | null): Record<string, string> {
  return registry === null ? {} : { npm_config_registry: registry };
}

/** pip refuses an index without TLS unless it may trust the host. */
function pythonVariables(index: string | null): Record<string, string> {
  if (index === null) return {};
  const { protocol, hostname } = new URL(index);
  return {
    PIP_INDEX_URL: index,
    UV_INDEX_URL: index,
    ...(protocol === 'http:' ? { PIP_TRUSTED_HOST: hostname } : {}),
  };
}

type Refused = Extract<JournalEntry, { type: 'refused' }>;

const shownHost = ({ host }: Refused): string =>
  clean(host).replaceAll(/\p{C}/gu, '\u{fffd}').slice(0, HOST_CHARACTERS);

/**
 * A refusal for the people of the project: the host, and what was refused. A connection beyond the limit names
 * no host.
 */
export function refusalWarning(entry: Refused): { path: string; reason: string } {
  const reason = clean(entry.reason).slice(0, 100);
  if (reason === 'more') return { path: 'egress', reason: 'further hosts were refused' };
  const port = entry.port === 443 || entry.port === 0 ? '' : ` at port ${entry.port}`;
  return { path: shownHost(entry) || 'egress', reason: `refused by the setting egress${port}: ${reason}` };
}

/** Says a connection that the proxy refused in the service's log, with whose it was. */
export function logRefusal(
  ctx: Context,
  entry: Refused,
  of: { project: string } & Record<string, string>,
): void {
  const { port, reason } = entry;
  const isMore = reason === 'more';
  ctx.log.warn(
    {
      ...of,
      ...(isMore
        ? {}
        : {
            host: shownHost(entry),
            port,
            reason: clean(reason).slice(0, 100),
          }),
    },
    isMore
      ? 'further connections of that sandbox were refused, which are not listed'
      : 'a connection out of a sandbox was refused',
  );
}
