/** `headrace builds …` and `logs` */
import type { Build } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { endOf } from './wait.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, bytes, lasting } from '../terminal/times.ts';
import { printLog } from './log.ts';
import { listOfApp } from './list-of-app.ts';
import type { Filters } from './list-of-app.ts';
import { buildNamed, NO_THREAD } from './names.ts';
import { countOf } from '../terminal/count.ts';

const COLUMNS: readonly Column<Build>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'STATUS', value: ({ status }) => status, color: ({ status }) => statusColor(status) },
  { header: 'COMMAND', value: ({ command }) => command },
  { header: 'THREAD', value: ({ threadId }) => threadId ?? NO_THREAD },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

export const listBuilds = (cli: Cli, filters: Filters<Build['status']>): Promise<void> =>
  listOfApp(cli, filters, {
    member: 'builds',
    columns: COLUMNS,
    empty: 'There are no builds yet. → headrace build -- COMMAND',
    ofApp: (appId, options) => cli.client.builds.listOfApp(appId, options),
    ofApps: (options) => cli.client.builds.listAll(options),
  });

export async function showBuild(cli: Cli, name: string | undefined): Promise<void> {
  const appId = await cli.appId();
  const build = await cli.client.builds.get(appId, await buildNamed(cli, name, appId), {
    signal: cli.signal,
  });
  cli.show({ build }, () => textOf(cli, build));
}

export async function cancelBuild(cli: Cli, name: string): Promise<void> {
  const appId = await cli.appId();
  const buildId = await buildNamed(cli, name, appId);
  const build = await cli.write(
    (client) => client.builds.cancel(appId, buildId, { signal: cli.signal }).done({ signal: cli.signal }),
    buildId,
  );
  cli.show({ build }, () => textOf(cli, build));
}

function textOf({ paint }: Cli, build: Build): string {
  const { id, status, command, outputDirectory, sourceId, threadId, exitCode, error } = build;
  const { startedAt, finishedAt, artifactByteSize, fileCount, artifactSha256 } = build;
  const lines: [name: string, value: string | null][] = [
    ['ID', id],
    ['Status', paint(statusColor(status), status)],
    ['Command', oneLine(command)],
    ['Output', oneLine(outputDirectory)],
    ['Source', sourceId],
    ['Thread', threadId ?? NO_THREAD],
    ['Created', ago(build.createdAt)],
    ['Took', startedAt && finishedAt && lasting(Date.parse(finishedAt) - Date.parse(startedAt))],
    ['Exit code', exitCode === null ? null : String(exitCode)],
    [
      'Artifact',
      artifactByteSize === null ? null : `${countOf(fileCount ?? 0, 'file')}, ${bytes(artifactByteSize)}`,
    ],
    ['SHA-256', artifactSha256],
    ['Error', error && `${error.code}: ${shown(error.message)}`],
  ];
  return lines
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${paint('dim', name.padEnd(9))}  ${value}`)
    .join('\n');
}

interface LogOptions {
  follow: boolean;
}

export async function showLogs(cli: Cli, name: string | undefined, { follow }: LogOptions): Promise<void> {
  const appId = await cli.appId();
  const buildId = await buildNamed(cli, name, appId);
  // With --json, following is waiting for the end.
  if (follow && cli.isJson && !cli.globals.jsonl) await endOf(cli, { appId, buildId, signal: cli.signal });
  await printLog(cli, { appId, id: buildId, follow });
}
