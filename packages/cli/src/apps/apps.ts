/** `headrace apps …` */
import { isCode } from '@headrace/client';
import type { App } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';

const COLUMNS: readonly Column<App>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'NAME', value: ({ name }) => name, color: () => 'bold' },
  { header: 'EXTERNAL ID', value: ({ externalId }) => externalId },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

interface AppFilters {
  limit: number | undefined;
  query: string | undefined;
  'external-id': string | undefined;
}

export const listApps = (cli: Cli, { limit, query, 'external-id': externalId }: AppFilters): Promise<void> =>
  cli.list({
    member: 'apps',
    page: (options) => cli.client.apps.list({ ...options, query, externalId }),
    columns: COLUMNS,
    empty: 'There are no apps yet. → headrace apps create NAME',
    filters: { query, externalId },
    limit,
  });

export async function createApp(cli: Cli, name: string, externalId: string | undefined): Promise<void> {
  const app = await cli.write((client) => client.apps.create({ name, externalId }, { signal: cli.signal }));
  cli.remember(`app ${cli.target.url}`, app.id);
  cli.show({ app }, () => `${app.id}  ${oneLine(app.name)}`);
}

/** The named app, else the one of the command line, the folder or the context. */
export const appOf = (cli: Cli, text: string | undefined): Promise<string> =>
  text === undefined ? cli.appId() : cli.appNamed(text);

export async function showApp(cli: Cli, text: string | undefined): Promise<void> {
  const app = await cli.client.apps.get(await appOf(cli, text), { signal: cli.signal });
  cli.show({ app }, () => describe(cli, app));
}

export function describe(cli: Cli, { id, name, externalId, metadata, createdAt, ...app }: App): string {
  const head = app.headSourceId === null ? null : `${app.headSourceId} (revision ${app.headRevision})`;
  return cli.details([
    ['ID', id],
    ['Name', name, 'bold'],
    ['External ID', externalId],
    ['Head', head],
    ['Created', ago(createdAt)],
    ...Object.entries(metadata).map(([key, value]) => [`Metadata ${oneLine(key)}`, value] as const),
  ]);
}

export async function deleteApp(cli: Cli, text: string): Promise<void> {
  const id = await cli.appNamed(text);
  if (!cli.globals.yes) await askForName(cli, id);
  const app = await cli.write((client) => client.apps.delete(id, { signal: cli.signal }));
  cli.show({ app }, () => id);
  cli.say(`Deleted ${oneLine(app.name)}.`);
}

async function askForName(cli: Cli, id: string): Promise<void> {
  const app = await cli.client.apps.get(id, { signal: cli.signal }).catch((error: unknown) => {
    // An interrupted deletion, run again: its answer is the service's to repeat.
    if (isCode(error, 'app_not_found')) return null;
    throw error;
  });
  if (app === null) return;
  const typed = await cli.text(
    `This deletes ${oneLine(app.name)} with all its threads and sources. Its name, to confirm:`,
    '--yes',
  );
  if (typed !== app.name)
    throw new Fault(EXIT.failed, 'That is not its name: nothing was deleted.', { code: 'declined' });
}
