/** Lists of what a thread, an app or all apps have: builds and previews. */
import type { Page, PageOptions } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import type { Column } from '../terminal/table.ts';

export interface Filters<S> {
  limit: number | undefined;
  status: S | undefined;
  thread: string | undefined;
  'all-apps': boolean;
}
interface Listed<T, S> {
  member: string;
  columns: readonly Column<T>[];
  empty: string;
  ofThread(appId: string, threadId: string, options: PageOptions): PromiseLike<Page<T>>;
  ofApps(options: PageOptions & { appId: string | undefined; status: S | undefined }): PromiseLike<Page<T>>;
}

export async function listOfApp<T extends { projectId: string }, S>(
  cli: Cli,
  { limit, status, thread, 'all-apps': allApps }: Filters<S>,
  { member, columns, empty, ofThread, ofApps }: Listed<T, S>,
): Promise<void> {
  if (thread !== undefined && (allApps || status !== undefined))
    throw usage('--thread excludes --all-apps and --status.');
  const appId = allApps ? undefined : await cli.appId();
  const threadId = appId && thread !== undefined ? await cli.threadNamed(thread, appId) : undefined;
  await cli.list({
    member,
    page: (options) =>
      appId && threadId ? ofThread(appId, threadId, options) : ofApps({ ...options, appId, status }),
    columns: allApps ? [...columns, { header: 'APP', value: ({ projectId }) => projectId }] : columns,
    empty,
    filters: { status, thread },
    limit,
  });
}
