import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RunnerReport } from '../db/schema.ts';
import { reportOf } from '../runner/report-of.ts';
import { listRunners } from '../runner/store.ts';

const ALIVE_SECONDS = 30;
/** A deployment has fewer; silent ones are forgotten after an hour. */
const MOST = 1_000;

export interface ProcessRow {
  id: string;
  host: string;
  roles: string[];
  started_at: Date;
  last_seen_at: Date;
  runner: RunnerReport | null;
  is_alive: boolean;
}

/** The processes by their signs of life, those that began first at the front. */
export async function readProcesses(db: Db): Promise<ProcessRow[]> {
  return db
    .selectFrom('processes')
    .select([
      'id',
      'host',
      'roles',
      'started_at',
      'runner',
      sql<Date>`least(last_seen_at, now())`.as('last_seen_at'),
      sql<boolean>`last_seen_at > now() - ${ALIVE_SECONDS} * interval '1 second'`.as('is_alive'),
    ])
    .orderBy('started_at')
    .orderBy('id')
    .limit(MOST)
    .execute();
}

export const processView = (row: ProcessRow) => ({
  id: row.id,
  host: row.host,
  roles: row.roles,
  startedAt: row.started_at.toISOString(),
  lastSeenAt: row.last_seen_at.toISOString(),
});

/** The runners that living processes report; processes of one host may share one. */
export function runnerViews(rows: readonly ProcessRow[]) {
  const byRunner = new Map<string, ReturnType<typeof runnerView>>();
  for (const { host, runner, is_alive: isAlive } of rows)
    if (isAlive && runner) byRunner.set(`${host} ${runner.id}`, runnerView(host, runner));
  return [...byRunner.values()];
}

/** The runners of the fleet. */
export async function fleetViews(db: Db) {
  return (await listRunners(db)).map((row) => {
    const report = reportOf(row.status);
    const notes = [
      ...(row.state === 'ready' ? [] : [`it is ${row.state}: it does not report`]),
      ...(row.is_draining ? ['it drains: it takes nothing new'] : []),
    ];
    return runnerView(row.name, { ...report, id: row.boot_id, warnings: [...notes, ...report.warnings] });
  });
}

const runnerView = (host: string, runner: RunnerReport) => ({
  id: runner.id,
  host,
  driver: runner.driver ?? 'none',
  limits: runner.limits,
  warnings: runner.warnings,
  sandboxes: runner.sandboxes ?? 0,
  memoryBytes: runner.memoryBytes,
  freeBytes: runner.freeBytes,
  egressRefused: runner.egressRefused,
});
