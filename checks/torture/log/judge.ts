/** The end of a torture of the log: waits for what is left, then compares everybody's view with the table. */
import type pg from 'pg';
import { readLog, settled } from '../lib/log-table.ts';
import type { LoggedEvent } from '../lib/log-table.ts';
import { caughtUp } from './readers.ts';
import type { Reader } from './readers.ts';
import { added, judgeLog, judgeReader } from './verdict.ts';
import type { Verdict } from './verdict.ts';
import type { Acknowledged } from './writers.ts';

export interface Told {
  acknowledged: readonly Acknowledged[];
  readers: { all: readonly Reader[]; stop(): Promise<void> };
  /** The log's end before the readers began. */
  firstSequence: number;
}

/** What only writers make: an event of it that no writer was answered for is one too many. */
const isWritten = (type: string) => type === 'platform.app.updated' || type === 'platform.app.created';

export async function judge(
  table: pg.Client,
  { acknowledged, readers, firstSequence }: Told,
  signal: AbortSignal,
): Promise<Verdict & { log: LoggedEvent[] }> {
  await settled(table, signal);
  const whole = await readLog(table);
  const log = whole.filter((event) => event.sequence > firstSequence);
  await caughtUp(readers.all, log, signal);
  await readers.stop();
  const verdict = added([
    judgeLog(log, acknowledged, isWritten),
    ...readers.all.map((reader) => judgeReader(log, reader)),
  ]);
  verdict.failures.push(
    ...(await judgeVersions(table, whole)),
    ...readers.all.flatMap((reader) => reader.failures),
  );
  return { ...verdict, log };
}

/** `version` moves by one exactly when its event is published. */
async function judgeVersions(table: pg.Client, log: readonly LoggedEvent[]): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const { type, projectId, threadId } of log) {
    const id = type === 'platform.app.updated' ? projectId : type === 'thread.updated' ? threadId : null;
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const { rows } = await table.query<{ id: string; version: number; first: number }>(`
    select id, version::float8 as version, 1 as first from projects where kind = 'platform' union all select id, version::float8, 0 from threads`);
  return rows
    .filter(({ id, version, first }) => version !== (counts.get(id) ?? 0) + first)
    .map(({ id, version }) => `${id} has version ${version}, and ${counts.get(id) ?? 0} events of changes`);
}
