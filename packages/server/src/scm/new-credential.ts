/** A credential as an installation's operations take it: tried before anything is stored. */
import { createPrivateKey, randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import type { InstallationRow } from '../db/schema.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { retryHeaders } from '../http/rate-limit.ts';
import { sealCredential } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { ProviderError } from './provider.ts';
import { providerOf } from './providers.ts';

interface GivenCredential {
  token?: string;
  app?: { appId: string | number; installationId: string | number; privateKey: string };
}

/** Just one of the two, or none. */
export function credentialOf({ token, app }: GivenCredential): Credential | null {
  if (token !== undefined && app !== undefined)
    throw invalid({ path: '/app', message: 'must not be given together with token' });
  if (token !== undefined) return { token };
  if (app === undefined) return null;
  return {
    app: {
      appId: String(app.appId),
      installationId: String(app.installationId),
      privateKey: app.privateKey,
    },
  };
}

/**
 * The columns of a credential that the provider takes. Throws 400 at its place where it is refused, and 503
 * where the provider is away.
 */
export async function tryCredential(
  ctx: Context,
  row: InstallationRow,
  credential: Credential,
): Promise<Pick<InstallationRow, 'credential_sealed' | 'auth' | 'account_login' | 'error'>> {
  const path = credential.app ? '/app' : '/token';
  if (credential.app && !isPrivateKey(credential.app.privateKey))
    throw invalid({ path, message: 'has an invalid privateKey: give a private key in PEM' });
  const columns = {
    credential_sealed: sealCredential(ctx.secretKey, row, credential),
    auth: credential.app ? ('app' as const) : ('token' as const),
    error: null,
  };
  try {
    const installation = { ...row, ...columns };
    const { accountLogin } = await providerOf(row).verify({ ctx, installation });
    return { ...columns, account_login: accountLogin };
  } catch (error) {
    throw refusalOf(error, path);
  }
}

function refusalOf(error: unknown, path: string): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { fault } = error;
  if (fault.code !== 'unavailable')
    return invalid({ path, message: 'is refused by the source control host: check it and its permissions' });
  if (fault.isPrivate) return invalid({ path: '/baseUrl', message: 'has to be at a public address' });
  return new ApiError(
    'unavailable',
    'The source control host cannot be reached, so the credential could not be checked. Check the address, or retry in a moment.',
    { headers: retryHeaders(fault.retryAfterSeconds ?? 5), cause: error },
  );
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

export const makeWebhookSecret = (): string => randomBytes(32).toString('hex');
