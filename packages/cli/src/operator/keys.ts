import { makeServiceKey } from '@headrace/server/accounts/keys.ts';
import type { Cli } from '../core/cli.ts';

export function generateKey(cli: Cli): void {
  const key = makeServiceKey();
  cli.show({ key }, () => key);
}
