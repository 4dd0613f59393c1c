/** `headrace audit`: who did what. The operation has no filters, so this filters what it reads. */
import type { AuditEntry, Page } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { momentOf } from '../core/input.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: 'WHEN', value: ({ createdAt }) => ago(createdAt) },
  { header: 'ACTION', value: ({ action }) => action, color: () => 'bold' },
  { header: 'TARGET', value: ({ targetId }) => targetId },
  { header: 'BY', value: ({ actorId }) => actorId ?? 'the service' },
  { header: 'FROM', value: ({ address }) => address },
];

interface AuditOptions {
  action: string | undefined;
  actor: string | undefined;
  target: string | undefined;
  from: string | undefined;
  to: string | undefined;
  limit: number | undefined;
}

export async function showAudit(cli: Cli, options: AuditOptions): Promise<void> {
  const found = matching(cli, options);
  await cli.list({
    member: 'entries',
    page: ({ limit }) => take(found, limit),
    columns: COLUMNS,
    empty: 'No entries match.',
    limit: options.limit,
  });
}

/** The newest first, so what is older than `from` ends it. */
async function* matching(cli: Cli, options: AuditOptions): AsyncGenerator<AuditEntry, void, undefined> {
  const { action = '', actor, target } = options;
  const from = timeOf('from', options.from) ?? 0;
  const to = timeOf('to', options.to) ?? Infinity;
  for await (const entry of cli.client.audit.list({ limit: 200, signal: cli.signal })) {
    const at = Date.parse(entry.createdAt);
    if (at < from) return;
    if (at >= to || !entry.action.startsWith(action)) continue;
    if (actor !== undefined && entry.actorId !== actor) continue;
    if (target !== undefined && entry.targetId !== target) continue;
    yield entry;
  }
}

/** The next ones as a page without a cursor: a filtered list has none. */
async function take(
  found: AsyncGenerator<AuditEntry, void, undefined>,
  limit: number,
): Promise<Page<AuditEntry>> {
  const items: AuditEntry[] = [];
  while (items.length < limit) {
    const { done, value } = await found.next();
    if (done) return { items, nextCursor: null, hasMore: false };
    items.push(value);
  }
  return { items, nextCursor: null, hasMore: true };
}

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(momentOf(text)!);
  if (Number.isNaN(time))
    throw usage(
      `--${name} is a day, a time, or how long ago, such as 2026-01-31 or 7d, not ${JSON.stringify(text)}.`,
    );
  return time;
}
