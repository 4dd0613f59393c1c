/** An installation and a repository of the stand-in, as rows, without a database. */
import pino from 'pino';
import type { Context } from '../../context.ts';
import type { InstallationRow, RepositoryRow } from '../../db/schema.ts';
import { newId } from '../../ids.ts';
import { sealCredential } from '../credentials.ts';
import type { Credential } from '../credentials.ts';
import type { AtInstallation, AtRepository } from '../provider.ts';
import { untriedInstallation } from '../untried-installation.ts';
import type { GithubStandIn, StandInRepository } from './stand-in.fixture.ts';

const SECRET_KEY = Buffer.alloc(32, 7);

export function atInstallation(
  { baseUrl }: Pick<GithubStandIn, 'baseUrl'>,
  credential: Credential,
  { allowPrivate = true }: { allowPrivate?: boolean } = {},
): AtInstallation & { states: InstallationRow['error'][] } {
  const states: InstallationRow['error'][] = [];
  const noted = { execute: async () => undefined, where: () => noted };
  const ctx = {
    config: { scm: { allowPrivate } },
    secretKey: SECRET_KEY,
    log: pino({ level: 'silent' }),
    db: {
      updateTable: () => ({
        set({ error }: { error: unknown }) {
          states.push(error === null ? null : installation.error);
          return noted;
        },
      }),
    },
  } as unknown as Context;
  const untried = untriedInstallation(newId('org'), { provider: 'github', name: 'Stand-in', baseUrl });
  const installation: InstallationRow = {
    ...untried,
    auth: credential.app ? 'app' : 'token',
    credential_sealed: sealCredential(SECRET_KEY, untried, credential),
  };
  return { ctx, installation, states };
}

export function atRepository(at: AtInstallation, found: StandInRepository): AtRepository {
  const now = new Date();
  const repository: RepositoryRow = {
    org_id: at.installation.org_id,
    id: newId('repo'),
    installation_id: at.installation.id,
    provider: 'github',
    base_url: at.installation.base_url!,
    external_id: String(found.id),
    full_name: found.fullName,
    name: found.name,
    private: true,
    archived: false,
    default_branch: 'main',
    url: null,
    clone_url: null,
    merge_methods: ['merge', 'squash', 'rebase'],
    required_checks: [],
    last_number: 0,
    gone_at: null,
    deleted_at: null,
    created_at: now,
    updated_at: now,
  };
  return { ...at, repository };
}
