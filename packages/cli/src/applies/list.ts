/** `headrace applies …` */
import type { Apply } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { idNamed } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { oneLine } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Paint } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, lasting } from '../terminal/times.ts';
import { waitForApply } from './wait.ts';

const COLUMNS: readonly Column<Apply>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  {
    header: 'STATUS',
    value: ({ status }) => status,
    color: ({ status }) => statusColor(status),
    whole: true,
  },
  { header: 'THREAD', value: ({ threadId }) => threadId, whole: true },
  { header: 'WHY', value: (apply) => reasonOf(apply) },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];
const SHOWN_PATHS = 20;

interface Filters {
  limit: number | undefined;
  thread: string | undefined;
}

export async function listApplies(cli: Cli, { limit, thread }: Filters): Promise<void> {
  const appId = await cli.appId();
  const threadId = thread === undefined ? undefined : await cli.threadNamed(thread, appId);
  await cli.list({
    member: 'applies',
    page: (options) => cli.client.applies.list(appId, { ...options, threadId }),
    columns: COLUMNS,
    empty: 'There are no applies yet. → headrace apply THREAD',
    limit,
  });
}

export async function showApply(
  cli: Cli,
  text: string,
  { wait, timeout }: { wait: boolean; timeout: number | undefined },
): Promise<Exit> {
  const appId = await cli.appId();
  const id = await idNamed(cli, text, appliesOf(cli, appId));
  const now = await cli.client.applies.get(appId, id, { signal: cli.signal });
  const apply = wait && now.status === 'queued' ? await waitForApply(cli, now, timeout) : now;
  const revision = await revisionOf(cli, apply);
  cli.show({ apply }, () => applyText(apply, revision, cli.paint));
  return wait ? exitOf(apply) : EXIT.done;
}

export const appliesOf = (cli: Cli, appId: string): Resource<Apply> => ({
  what: 'apply',
  prefix: 'apl_',
  listing: 'headrace applies list',
  list: (options) => cli.client.applies.list(appId, options),
  named: ({ id }) => ({ id, label: null }),
});

export const exitOf = ({ status }: Apply): Exit =>
  status === 'conflicted' ? EXIT.conflict : status === 'failed' ? EXIT.failed : EXIT.done;

/** Of the head, while it is the one that the apply made. For people only: it costs a read. */
export async function revisionOf(cli: Cli, { projectId, resultSourceId }: Apply): Promise<number | null> {
  if (resultSourceId === null || cli.isJson) return null;
  const head = await cli.client.head.get(projectId, { signal: cli.signal });
  return head.sourceId === resultSourceId ? head.revision : null;
}

export function applyText(apply: Apply, revision: number | null, paint: Paint): string {
  const { id, status, threadId, conflicts, error, repairs, resultSourceId, createdAt, finishedAt } = apply;
  const took = finishedAt === null ? '' : `, took ${lasting(Date.parse(finishedAt) - Date.parse(createdAt))}`;
  const more = conflicts.length - SHOWN_PATHS;
  return [
    `${paint(statusColor(status), status)}  ${id}  ${paint('dim', `${ago(createdAt)}${took}`)}`,
    `thread  ${threadId}`,
    ...(resultSourceId === null
      ? []
      : [`head    ${resultSourceId}${revision === null ? '' : `, revision ${revision}`}`]),
    ...(error === null ? [] : [`why     ${oneLine(error)}`]),
    ...conflicts.slice(0, SHOWN_PATHS).map((path) => `conflict  ${oneLine(path)}`),
    ...(more > 0 ? [`… and ${more} more conflicts`] : []),
    ...repairs.map(
      ({ runId, error: refusal, report }, at) =>
        `repair ${at + 1}  ${runId ?? '-'}  ${oneLine(refusal ?? report?.summary ?? 'under way')}`,
    ),
  ].join('\n');
}

function reasonOf({ error, conflicts, status }: Apply): string {
  if (error !== null) return error;
  return status === 'applied' || conflicts.length === 0 ? '' : conflicts.join(' ');
}
