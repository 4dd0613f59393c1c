/** `headrace model-keys …`: the organization's keys of model providers. */
import type { ModelKey } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { readSecret } from '../core/input.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';

const COLUMNS: readonly Column<ModelKey>[] = [
  { header: 'PROVIDER', value: ({ provider }) => provider, whole: true, color: () => 'bold' },
  { header: 'CHANGED', value: ({ updatedAt }) => ago(updatedAt) },
  { header: 'SINCE', value: ({ createdAt }) => ago(createdAt) },
];

export const listModelKeys = (cli: Cli, limit: number | undefined) =>
  cli.list({
    member: 'modelKeys',
    page: (options) => cli.client.modelKeys.list(options),
    columns: COLUMNS,
    empty: 'No model provider has a key yet. → headrace model-keys set PROVIDER',
    limit,
  });

export async function setModelKey(cli: Cli, provider: string): Promise<void> {
  const key = await readSecret(cli, `key of ${oneLine(provider)}`);
  // The receipt's key must not depend on the secret, not even on its hash.
  const modelKey = await cli.write((client) =>
    client.modelKeys.set(provider, { key }, { signal: cli.signal }),
  );
  cli.show({ modelKey }, () => `${oneLine(modelKey.provider)} has a key now.`);
}

export async function removeModelKey(cli: Cli, provider: string): Promise<void> {
  await cli.requireYes(
    () => `Remove the key of ${oneLine(provider)}? Runs with its models fail from the next call on.`,
  );
  const modelKey = await cli.write((client) => client.modelKeys.delete(provider, { signal: cli.signal }));
  cli.show({ modelKey }, () => `${oneLine(modelKey.provider)} has no key any more.`);
}
