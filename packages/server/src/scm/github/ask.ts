/** Calls of GitHub for an installation or a repository, and what they say of the installation's state. */
import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { InstallationRow } from '../../db/schema.ts';
import { openCredential } from '../credentials.ts';
import { ProviderError } from '../provider.ts';
import type { AtInstallation, AtRepository } from '../provider.ts';
import { noteInstallationState } from '../store.ts';
import { GITHUB_COM } from './addresses.ts';
import type { Connection } from './connection.ts';
import { faultOf } from './faults.ts';

/** Connections that a process keeps: their tokens, their pace, and what they have read. */
const MAX_CONNECTIONS = 200;
const connectionsOf = new WeakMap<Context, Map<string, Connection>>();

/**
 * Throws `access_denied` where the credential is gone. Octokit is loaded with the first connection: it takes
 * 180 ms and 7 MiB, which a service without GitHub does not need.
 */
async function connectionOf({ ctx, installation }: AtInstallation): Promise<Connection> {
  const sealed = installation.credential_sealed;
  const credential = openCredential(ctx.secretKey, installation);
  if (!sealed || !credential)
    throw new ProviderError({ code: 'access_denied' }, 'the installation has no credential');
  const { Connection } = await import('./connection.ts');
  const connections = connectionsOf.get(ctx) ?? new Map<string, Connection>();
  connectionsOf.set(ctx, connections);
  const baseUrl = installation.base_url ?? GITHUB_COM;
  const key = createHash('sha256').update(`${installation.id} ${baseUrl} `).update(sealed).digest('base64');
  const connection =
    connections.get(key) ??
    new Connection(baseUrl, credential, {
      allowPrivate: ctx.config.scm.allowPrivate,
      id: installation.id,
    });
  connections.delete(key);
  connections.set(key, connection);
  if (connections.size > MAX_CONNECTIONS) connections.delete(connections.keys().next().value!);
  return connection;
}

/** Throws ProviderError alone. What changes the installation's state is noted. */
export async function ask<T>(at: AtInstallation, call: (connection: Connection) => Promise<T>): Promise<T> {
  try {
    const answer = await call(await connectionOf(at));
    await noteState(at, null);
    return answer;
  } catch (error) {
    const fault = faultOf(error);
    await noteState(at, fault);
    throw fault;
  }
}

/**
 * An error is noted from a refused or failed call to the next good one. A permission that is missing, a
 * limited rate and what is not there say nothing about the credential.
 */
async function noteState(at: AtInstallation, error: ProviderError | null): Promise<void> {
  const state = error === null ? null : stateOf(error);
  if (state === undefined || (state?.code ?? null) === (at.installation.error?.code ?? null)) return;
  at.installation.error = state;
  await noteInstallationState(at.ctx.db, at.installation, state).catch((err: unknown) =>
    at.ctx.log.warn({ err, installation: at.installation.id }, "an installation's state could not be stored"),
  );
}

function stateOf({ fault, message }: ProviderError): InstallationRow['error'] | undefined {
  if (fault.code === 'access_denied')
    return fault.permission === undefined && !/not accessible by/i.test(message)
      ? { code: 'access_denied', message: 'The provider refuses the credential. Set another one.' }
      : undefined;
  if (fault.code === 'unavailable')
    return fault.retryAfterSeconds === undefined
      ? {
          code: 'unreachable',
          message: 'The provider could not be reached, or failed. The service tries again.',
        }
      : undefined;
  return undefined;
}

/** A type and no interface: Octokit takes no interface as parameters. */
// oxlint-disable-next-line typescript/consistent-type-definitions
export type Place = { owner: string; repo: string };

export function placeOf(fullName: string): Place {
  const [owner, repo] = fullName.split('/') as [string, string];
  return { owner, repo };
}

/** As `ask`; what is not there in a repository that is not there is `gone`. */
export async function askRepository<T>(
  at: AtRepository,
  call: (connection: Connection, place: Place) => Promise<T>,
): Promise<T> {
  const place = placeOf(at.repository.full_name);
  return ask(at, async (connection) => {
    try {
      return await call(connection, place);
    } catch (error) {
      const fault = faultOf(error);
      if (fault.fault.code === 'not_found' && !(await isThere(connection, at, place)))
        throw new ProviderError({ code: 'gone' }, 'the repository is not there');
      throw fault;
    }
  });
}

/** Another repository may have taken the name. */
async function isThere(
  { octokit }: Connection,
  { repository }: AtRepository,
  place: Place,
): Promise<boolean> {
  try {
    const { data } = await octokit.rest.repos.get(place);
    return String(data.id) === repository.external_id;
  } catch (error) {
    if (faultOf(error).fault.code === 'not_found') return false;
    throw error;
  }
}
