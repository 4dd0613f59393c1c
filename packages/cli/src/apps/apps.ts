/** `headrace apps …` */
import type { App } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
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
    limit,
  });

export async function createApp(cli: Cli, name: string, externalId: string | undefined): Promise<void> {
  const app = await cli.write((client) => client.apps.create({ name, externalId }, { signal: cli.signal }));
  cli.remember(`app ${cli.target.url}`, app.id);
  cli.show({ app }, () => `${app.id}  ${oneLine(app.name)}`);
}
