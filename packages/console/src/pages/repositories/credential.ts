/** A credential as it is typed. It lives in the component alone: in no storage, no address and no sample. */
import type { ScmUpdateInstallationInput } from '@headrace/client';
import type { Fault } from '../../api/faults.ts';

export interface Credential {
  kind: 'app' | 'token';
  token: string;
  appId: string;
  installationId: string;
  privateKey: string;
}

export const NO_CREDENTIAL: Omit<Credential, 'kind'> = {
  token: '',
  appId: '',
  installationId: '',
  privateKey: '',
};

type Secrets = Pick<ScmUpdateInstallationInput, 'token' | 'app'>;

export const secretsOf = ({ kind, token, appId, installationId, privateKey }: Credential): Secrets =>
  kind === 'token'
    ? { token: token.trim() }
    : {
        app: {
          appId: appId.trim(),
          installationId: installationIdOf(installationId),
          privateKey: `${privateKey.trim()}\n`,
        },
      };

/** For samples: what is typed is not in them. */
export const sampleOf = (kind: Credential['kind']): Secrets =>
  kind === 'token'
    ? { token: 'github_pat_…' }
    : { app: { appId: '123456', installationId: '98765432', privateKey: '…' } };

export const flagsOf = (kind: Credential['kind']): string =>
  kind === 'token'
    ? '--token-file token.txt'
    : '--app-id 123456 --installation-id 98765432 --private-key-file app.pem';

/** The id alone, or the address of the page that ends in it. */
export const installationIdOf = (typed: string): string =>
  /\/installations\/(\d+)\/?$/.exec(typed.trim())?.[1] ?? typed.trim();

/** Why it cannot be sent; null if it can. */
export function missingIn({ kind, token, appId, installationId, privateKey }: Credential): string | null {
  if (kind === 'token') return token.trim() ? null : 'Paste the token first.';
  if (!appId.trim()) return 'Give the App’s id first.';
  if (!installationId.trim()) return 'Give the installation’s id first.';
  return privateKey.trim() ? null : 'Give the private key first.';
}

/** What a refusal says at each field, and which of its pointers are said so. */
export const CREDENTIAL_FIELDS = ['/token', '/app'];
export function credentialFaults(fault: Fault | null): Record<keyof typeof NO_CREDENTIAL, string | null> {
  const said = (path: string) => fault?.fields.find((field) => field.path === path)?.message ?? null;
  const app = said('/app');
  const isKey = app?.includes('privateKey') ?? false;
  const isRefused = (message: string | null) => message?.startsWith('is refused by') ?? false;
  return {
    token: isRefused(said('/token'))
      ? 'GitHub refuses this token. It may have expired, be cut off, or be of another GitHub address.'
      : said('/token'),
    appId: isRefused(app)
      ? 'GitHub refuses this App: its id, the installation’s id and the private key have to belong together.'
      : (said('/app/appId') ?? (isKey ? null : app)),
    installationId: said('/app/installationId'),
    privateKey: isKey
      ? 'This is no private key in PEM: give the whole .pem file, from -----BEGIN to END-----.'
      : said('/app/privateKey'),
  };
}
