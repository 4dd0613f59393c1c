/** `headrace apps update`. */
import type { App, UpdateAppInput } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { atMostOne } from '../core/input.ts';
import { appOf, describe } from './apps.ts';

interface Changes {
  name: string | undefined;
  'external-id': string | undefined;
  'no-external-id': boolean;
  metadata: readonly string[];
  'no-metadata': readonly string[];
}

/** Refused if someone else changes the app meanwhile; then it can be run again. */
export async function updateApp(cli: Cli, text: string | undefined, changes: Changes): Promise<void> {
  const set = pairsOf(changes);
  const id = await appOf(cli, text);
  const before = await cli.client.apps.get(id, { signal: cli.signal });
  const input = inputOf(before, changes, set);
  if (Object.keys(input).length === 0) {
    // Also the second run of a command whose answer was lost.
    cli.show({ app: before }, () => describe(cli, before));
    return cli.say('The app is so already.');
  }
  const app = await cli.write(
    (client) => client.apps.update(id, { ...input, expectedVersion: before.version }, { signal: cli.signal }),
    String(before.version),
  );
  cli.show({ app }, () => describe(cli, app));
}

function pairsOf(changes: Changes): Record<string, string> {
  const {
    name,
    metadata,
    'external-id': externalId,
    'no-external-id': noExternalId,
    'no-metadata': removed,
  } = changes;
  atMostOne(changes, ['external-id', 'no-external-id']);
  if (
    name === undefined &&
    externalId === undefined &&
    !noExternalId &&
    metadata.length + removed.length === 0
  )
    throw usage(
      'What shall change? Give --name, --external-id or --metadata.',
      'headrace apps update --help',
    );
  const pairs = metadata.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`--metadata is KEY=VALUE, not ${JSON.stringify(pair)}.`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** Only what differs from the app as it is. */
function inputOf(before: App, changes: Changes, set: Record<string, string>): UpdateAppInput {
  const externalId = changes['no-external-id'] ? null : (changes['external-id'] ?? before.externalId);
  const removed = new Set(changes['no-metadata']);
  const kept = Object.entries({ ...before.metadata, ...set }).filter(([key]) => !removed.has(key));
  const isSame =
    kept.length === Object.keys(before.metadata).length &&
    kept.every(([key, value]) => before.metadata[key] === value);
  return {
    ...(changes.name !== undefined && changes.name !== before.name && { name: changes.name }),
    ...(externalId !== before.externalId && { externalId }),
    ...(!isSame && { metadata: Object.fromEntries(kept) }),
  };
}
