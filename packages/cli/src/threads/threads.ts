/** `headrace thread …` */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Run, Thread, UpdateThreadInput } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { requireChange } from '../core/body.ts';
import { atMostOne } from '../core/input.ts';
import { projectNamed } from '../core/ids.ts';
import { oneLine } from '../terminal/escape.ts';
import { microsOf, usd } from '../terminal/money.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { RUN_COLUMNS } from './history.ts';
import { threadPlace } from './place.ts';
import type { Place } from './place.ts';

const COLUMNS: readonly Column<Thread>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  {
    header: 'STATUS',
    value: ({ status }) => status,
    color: ({ status }) => statusColor(status),
    whole: true,
  },
  { header: 'TITLE', value: ({ title }) => title, color: () => 'bold' },
  { header: 'CHANGED', value: ({ updatedAt }) => ago(updatedAt) },
];

interface Filters {
  limit: number | undefined;
  status: Thread['status'] | undefined;
  query: string | undefined;
  'all-apps': boolean;
  project: string | undefined;
}

export async function listThreads(cli: Cli, filters: Filters): Promise<void> {
  atMostOne(filters, ['all-apps', 'project']);
  const { limit, status, query, project, 'all-apps': allApps } = filters;
  const { threads } = cli.client;
  const projectId = project === undefined ? undefined : await projectNamed(cli, project);
  const appId = allApps || projectId !== undefined ? undefined : await cli.appId();
  await cli.list({
    member: 'threads',
    page: (options) => {
      if (projectId !== undefined) return threads.listDirect({ ...options, projectId, status, query });
      if (appId !== undefined) return threads.list(appId, { ...options, status, query });
      return threads.listAll({ ...options, status, query, sort: 'activity' });
    },
    columns: COLUMNS,
    filters: { status, query },
    empty: 'There are no threads yet. → headrace thread new "What is to be done"',
    limit,
  });
}

const SHOWN_RUNS = 5;

export async function showThread(cli: Cli, text: string | undefined): Promise<void> {
  const place = await threadPlace(cli, text);
  const { signal } = cli;
  const thread = await place.of(cli.client).get({ signal });
  if (cli.isJson) return cli.show({ thread }, () => '');
  const runs: Run[] = [];
  for await (const run of place.of(cli.client).runs.list({ limit: 200, signal })) runs.push(run);
  cli.print(detailsOf(cli, thread, runs));
  if (runs.length === 0) return;
  cli.print('');
  cli.print(cli.table(runs.slice(0, SHOWN_RUNS), RUN_COLUMNS));
}

function detailsOf(cli: Cli, thread: Thread, runs: readonly Run[]): string {
  const { waitingOn, blockedOn, spendLimitMicros: limit } = thread;
  const spent = runs.reduce((sum, { usage: { costMicros } }) => sum + costMicros, 0);
  return cli.details([
    ['ID', thread.id],
    ['Title', thread.title],
    ['Status', thread.status, statusColor(thread.status)],
    ['Error', thread.initializationErrorMessage ?? undefined, 'red'],
    ['Waits for', waitingOn.length > 0 ? waitingOn.join(', ') : undefined, 'yellow'],
    ['Blocked by', blockedOn.length > 0 ? blockedOn.join(', ') : undefined, 'yellow'],
    ['Model', thread.modelId],
    ['Forked from', thread.forkedFrom?.threadId],
    ['Started from', thread.sourceId],
    ['Latest source', thread.latestSourceId],
    ['Spent', usd(spent) + (limit === null ? '' : ` of ${usd(limit)}`)],
    ['Created', ago(thread.createdAt)],
    ['Changed', ago(thread.updatedAt)],
    ['Archived', thread.archivedAt === null ? undefined : ago(thread.archivedAt)],
  ]);
}

interface Update {
  title: string | undefined;
  'spend-limit': number | undefined;
  'no-spend-limit': boolean;
}

export async function updateThread(cli: Cli, text: string | undefined, options: Update): Promise<void> {
  const { title, 'spend-limit': limit, 'no-spend-limit': isUnlimited } = options;
  atMostOne(options, ['spend-limit', 'no-spend-limit']);
  const body = requireChange<UpdateThreadInput>({
    ...(title !== undefined && { title: title === '' ? null : title }),
    ...((limit !== undefined || isUnlimited) && { spendLimitMicros: microsOf(limit) ?? null }),
  });
  await change(cli, await threadPlace(cli, text), body);
}

export const archiveThread = async (cli: Cli, text: string | undefined, archived: boolean): Promise<void> =>
  change(cli, await threadPlace(cli, text), { archived });

async function change(cli: Cli, place: Place, body: UpdateThreadInput): Promise<void> {
  const thread = await cli.write((client) => place.of(client).update(body, { signal: cli.signal }));
  cli.show({ thread }, () => lineOf(thread));
}

const lineOf = ({ id, status, title }: Thread): string => `${id}  ${status}  ${oneLine(title ?? '-')}`;

export async function removeThread(cli: Cli, text: string | undefined): Promise<void> {
  const place = await threadPlace(cli, text);
  await cli.requireYes(async () => {
    const { title, id } = await place.of(cli.client).get({ signal: cli.signal });
    return `Delete the thread ${id} ${oneLine(title ?? '')}, with its messages? Its sources stay.`;
  });
  const thread = await cli.write((client) => place.of(client).delete({ signal: cli.signal }));
  cli.show({ thread }, () => `Deleted ${thread.id}.`);
}

export async function exportThread(
  cli: Cli,
  text: string | undefined,
  { format, output }: { format: string | undefined; output: string | undefined },
): Promise<void> {
  const { threadId } = await threadPlace(cli, text);
  const { threads } = cli.client;
  const { signal } = cli;
  const isText = format !== 'json' && !cli.isJson;
  const written = isText
    ? await threads.export(threadId, { format: 'markdown', signal })
    : `${JSON.stringify({ ok: true, export: await threads.export(threadId, { signal }) }, null, 2)}\n`;
  if (output !== undefined) {
    writeFileSync(resolve(cli.io.cwd, output), written);
    cli.say(`Wrote ${oneLine(output)}`);
  } else if (isText) cli.printRaw(written);
  else cli.io.stdout.write(written);
}
