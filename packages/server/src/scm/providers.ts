/** The providers by name: what a row's `provider` means. */
import type { InstallationRow } from '../db/schema.ts';
import { githubProvider } from './github/provider.ts';
import { localProvider } from './local/provider.ts';
import type { Provider } from './provider.ts';

const PROVIDERS: Record<InstallationRow['provider'], Provider> = {
  local: localProvider,
  github: githubProvider,
};

export const providerOf = ({ provider }: Pick<InstallationRow, 'provider'>): Provider => PROVIDERS[provider];
