/** The providers by name: what a row's `provider` means. */
import type { InstallationRow } from '../db/schema.ts';
import type { Provider } from './provider.ts';
import { localProvider } from './local/provider.ts';

const PROVIDERS: Partial<Record<InstallationRow['provider'], Provider>> = { local: localProvider };

export function providerOf({ provider }: Pick<InstallationRow, 'provider'>): Provider {
  const found = PROVIDERS[provider];
  if (!found) throw new Error(`this version has no provider ${provider}`);
  return found;
}
