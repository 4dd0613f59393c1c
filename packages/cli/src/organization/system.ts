/** `headrace system …`: the state of the deployment, for owners and admins. */
import type { Stuck, System } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import type { Color } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, bytes, dated, lasting } from '../terminal/times.ts';

const PART_COLORS: Readonly<Record<string, Color>> = { ok: 'green', degraded: 'yellow', down: 'red' };
const PARTS: readonly Column<System['parts'][number]>[] = [
  { header: 'PART', value: ({ name }) => name, whole: true },
  { header: 'STATUS', value: ({ status }) => status, color: ({ status }) => PART_COLORS[status] },
  { header: '', value: ({ message }) => message ?? '' },
];
const QUEUES: readonly Column<System['queues'][number]>[] = [
  { header: 'QUEUE', value: ({ name }) => name, whole: true },
  { header: 'WAITING', value: ({ waiting }) => waiting, right: true },
  { header: 'RUNNING', value: ({ running }) => running, right: true },
  {
    header: 'FAILING',
    value: ({ failing }) => failing,
    right: true,
    color: ({ failing }) => (failing > 0 ? 'red' : undefined),
  },
  {
    header: 'OLDEST',
    value: ({ oldestSeconds }) => (oldestSeconds === null ? null : lasting(oldestSeconds * 1000)),
    right: true,
  },
];
const PROCESSES: readonly Column<System['processes'][number]>[] = [
  { header: 'PROCESS', value: ({ id }) => id, whole: true },
  { header: 'HOST', value: ({ host }) => host },
  { header: 'ROLES', value: ({ roles }) => roles.join(',') },
  { header: 'STARTED', value: ({ startedAt }) => ago(startedAt) },
  { header: 'SEEN', value: ({ lastSeenAt }) => ago(lastSeenAt) },
];
const RUNNERS: readonly Column<System['runners'][number]>[] = [
  { header: 'RUNNER', value: ({ id }) => id, whole: true },
  { header: 'DRIVER', value: ({ driver }) => driver },
  { header: 'SANDBOXES', value: ({ sandboxes }) => sandboxes, right: true },
  {
    header: 'MEMORY',
    value: ({ memoryBytes }) => (memoryBytes === null ? null : bytes(memoryBytes)),
    right: true,
  },
  { header: 'FREE', value: ({ freeBytes }) => (freeBytes === null ? null : bytes(freeBytes)), right: true },
  { header: 'WARNINGS', value: ({ warnings }) => warnings.join('; ') },
];
const SETTINGS: readonly Column<System['config'][number]>[] = [
  { header: 'SETTING', value: ({ name }) => name, whole: true },
  { header: 'VALUE', value: ({ value }) => value },
  { header: '', value: ({ isDefault }) => (isDefault ? 'default' : '') },
];

export async function showSystem(cli: Cli, hasConfig: boolean): Promise<void> {
  const system = await cli.client.system.get({ signal: cli.signal });
  cli.show({ system }, () =>
    [
      summaryOf(cli, system),
      cli.table(system.parts, PARTS),
      cli.table(system.queues, QUEUES),
      cli.table(system.processes, PROCESSES),
      ...(system.runners.length > 0 ? [cli.table(system.runners, RUNNERS)] : []),
      ...(hasConfig ? [cli.table(system.config, SETTINGS)] : []),
    ].join('\n\n'),
  );
}

const summaryOf = (cli: Cli, { version, startedAt, log, database, storage }: System) =>
  cli.details([
    ['Version', version],
    ['Started', dated(startedAt)],
    [
      'Database',
      `PostgreSQL ${database.version}, ${bytes(database.byteSize)}, ${database.connections} connections`,
    ],
    [
      'Storage',
      `${storage.kind}${storage.byteSize === null ? '' : `, ${bytes(storage.byteSize)} of packs and artifacts`}`,
    ],
    ['Log', `${lasting(log.lagMs)} behind, kept since ${log.retainedFrom ?? 'its beginning'}`],
  ]);

const STUCK: readonly Column<Stuck>[] = [
  { header: 'WHAT', value: ({ kind }) => kind },
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'SINCE', value: ({ since }) => ago(since), color: () => 'yellow' },
  { header: 'WHY', value: ({ reason }) => reason },
  { header: 'WHAT HELPS', value: ({ remedy }) => remedy },
];

interface StuckOptions {
  for: number | undefined;
  limit: number | undefined;
}

export const listStuck = (cli: Cli, { for: forMs, limit }: StuckOptions) =>
  cli.list({
    member: 'stuck',
    page: (options) =>
      cli.client.system.stuck({
        ...options,
        ...(forMs !== undefined && { seconds: Math.round(forMs / 1000) }),
      }),
    columns: STUCK,
    empty: 'Nothing is stuck.',
    limit,
  });
