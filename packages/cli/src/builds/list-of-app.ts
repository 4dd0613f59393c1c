/** Lists of what a thread, an app or all apps have: builds and previews. */
import type { Page, PageOptions } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { sourceNamed } from '../core/sources.ts';
import type { Column } from '../terminal/table.ts';
import { threadOrNone } from './names.ts';

export interface Filters<S> {
  limit: number | undefined;
  status: S | undefined;
  thread: string | undefined;
  source: string | undefined;
  'all-apps': boolean;
}
interface OfApp<S> {
  threadId: string | undefined;
  sourceId: string | undefined;
  status: S | undefined;
}
interface Listed<T, S> {
  member: string;
  columns: readonly Column<T>[];
  empty: string;
  ofApp(appId: string, options: PageOptions & OfApp<S>): PromiseLike<Page<T>>;
  ofApps(options: PageOptions & { status: S | undefined }): PromiseLike<Page<T>>;
}

export async function listOfApp<T extends { projectId: string }, S>(
  cli: Cli,
  { limit, status, thread, source, 'all-apps': allApps }: Filters<S>,
  { member, columns, empty, ofApp, ofApps }: Listed<T, S>,
): Promise<void> {
  if (allApps && (thread !== undefined || source !== undefined))
    throw usage('--all-apps excludes --thread and --source.');
  const appId = allApps ? undefined : await cli.appId();
  const threadId = appId && thread !== undefined ? await threadOrNone(cli, thread, appId) : undefined;
  const sourceId = appId && source !== undefined ? await sourceNamed(cli, source, appId) : undefined;
  await cli.list({
    member,
    page: (options) =>
      appId ? ofApp(appId, { ...options, threadId, sourceId, status }) : ofApps({ ...options, status }),
    columns: allApps ? [...columns, { header: 'APP', value: ({ projectId }) => projectId }] : columns,
    empty,
    filters: { status, thread, source },
    limit,
  });
}
