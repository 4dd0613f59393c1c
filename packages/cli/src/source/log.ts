/** `headrace log`: the sources that were the head, or all of them. */
import type { HeadRecord, Source } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';

const PAGE = 200;
const SHOWN = 30;
/** Reads of sources at a time. */
const AT_ONCE = 8;

const SOURCES: readonly Column<Source>[] = [
  { header: 'SOURCE', value: ({ id }) => id, whole: true, color: () => 'yellow' },
  { header: 'MESSAGE', value: ({ message }) => message },
  { header: 'KIND', value: ({ origin }) => origin, color: () => 'dim' },
  { header: 'FILES', value: ({ fileCount }) => fileCount, right: true },
  { header: 'WHEN', value: ({ createdAt }) => ago(createdAt) },
];

type Head = HeadRecord & { source: Source };
const HEADS: readonly Column<Head>[] = [
  { header: 'REV', value: ({ revision }) => revision, right: true },
  { header: 'SOURCE', value: ({ sourceId }) => sourceId, whole: true, color: () => 'yellow' },
  { header: 'MESSAGE', value: ({ source }) => source.message },
  { header: 'KIND', value: ({ source }) => source.origin, color: () => 'dim' },
  { header: 'WHEN', value: ({ updatedAt }) => ago(updatedAt) },
];

export async function showLog(
  cli: Cli,
  { sources, limit }: { sources: boolean; limit: number | undefined },
): Promise<void> {
  const appId = await cli.appId();
  if (!sources) return showHeads(cli, appId, limit ?? SHOWN);
  await cli.list({
    member: 'sources',
    page: (options) => cli.client.sources.list(appId, options),
    columns: SOURCES,
    empty: 'The app has no sources yet. → headrace push',
    limit,
  });
}

/** The API lists the oldest first, so all are read; there is one for each apply. */
async function showHeads(cli: Cli, appId: string, limit: number): Promise<void> {
  let heads: HeadRecord[] = [];
  let total = 0;
  for await (const head of cli.client.head.history(appId, { limit: PAGE, signal: cli.signal })) {
    total++;
    heads = [head, ...heads].slice(0, limit);
  }
  const hasMore = total > heads.length;
  if (cli.globals.jsonl) return heads.forEach((head) => cli.printLine(head));
  if (cli.globals.json) return cli.show({ heads, nextCursor: null, hasMore }, () => '');
  if (total === 0) return cli.say('The app has no head yet. → headrace push');
  const named = await withSources(cli, appId, heads);
  cli.print(cli.table(named, HEADS));
  if (hasMore) cli.say(cli.paintTalk('dim', `There are more: --limit ${limit * 2} shows more.`));
}

async function withSources(cli: Cli, appId: string, heads: readonly HeadRecord[]): Promise<Head[]> {
  const named: Head[] = [];
  for (let at = 0; at < heads.length; at += AT_ONCE) {
    const some = heads.slice(at, at + AT_ONCE).map(async (head) => ({
      ...head,
      source: await cli.client.sources.get(appId, head.sourceId, { signal: cli.signal }),
    }));
    named.push(...(await Promise.all(some)));
  }
  return named;
}
