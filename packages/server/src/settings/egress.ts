/**
 * What sandboxes of a project may reach, and what is logged of what they may not. The runner's proxy holds
 * them to it.
 */
import type { JournalEntry } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import { effectiveSettings } from './effective.ts';
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

/** The runner's list of hosts; empty: no network. */
export function egressHosts({ mode, hosts }: EffectiveSettings['egress']): string[] {
  if (mode === 'none') return [];
  return mode === 'registries' ? [...REGISTRIES, ...hosts] : hosts;
}

/** The part of a task's request that lets its sandbox out, by what holds in its project now. */
export async function egressOf(
  db: Db | Tx['db'],
  of: { project_id: string },
): Promise<{ egress?: string[] }> {
  const hosts = egressHosts((await effectiveSettings(db, of)).egress);
  return hosts.length ? { egress: hosts } : {};
}

/**
 * Says a connection that the proxy refused in the service's log, with whose it was: only there, for a
 * sandbox could ask for as many as it likes.
 */
export function logRefusal(
  ctx: Context,
  { host, port, reason }: Extract<JournalEntry, { type: 'refused' }>,
  of: { project: string } & Record<string, string>,
): void {
  const isMore = reason === 'more';
  ctx.log.warn(
    {
      ...of,
      ...(isMore
        ? {}
        : {
            host: clean(host).replaceAll(/\p{C}/gu, '\u{fffd}').slice(0, HOST_CHARACTERS),
            port,
            reason: clean(reason).slice(0, 100),
          }),
    },
    isMore
      ? 'further connections of that sandbox were refused, which are not told'
      : 'a connection out of a sandbox was refused',
  );
}
