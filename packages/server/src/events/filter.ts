/**
 * The part of the log that a reader sees: its feed, its credential's scope, its filters. The same rule in SQL
 * (replay) and in memory (live).
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { EventRow } from '../db/schema.ts';
import type { EventType } from './types.ts';

export interface EventFilter {
  orgId: string;
  /**
   * platform: an app's feed (`projectId`) or that of all apps; direct: the Direct feed, of one project with
   * `projectId`.
   */
  feed: 'platform' | 'direct';
  projectId: string | null;
  /** What a restricted credential sees; null = every project, and events without one. */
  projectIds: ReadonlySet<string> | null;
  threadId: string | null;
  runId: string | null;
  types: ReadonlySet<EventType> | null;
}

/** The event belongs to the reader's feed and scope, whatever the filters by thread, run and type. */
export function isInScope(filter: EventFilter, event: EventRow): boolean {
  return (
    event.org_id === filter.orgId &&
    event.feed === filter.feed &&
    (filter.projectId === null || event.project_id === filter.projectId) &&
    (filter.projectIds === null || (event.project_id !== null && filter.projectIds.has(event.project_id)))
  );
}

export function matches(filter: EventFilter, event: EventRow): boolean {
  return (
    isInScope(filter, event) &&
    (filter.threadId === null || event.thread_id === filter.threadId) &&
    (filter.runId === null || event.run_id === filter.runId) &&
    (filter.types === null || filter.types.has(event.type as EventType))
  );
}

/**
 * `matches` as a condition on `events`. A run's events are found by its thread's index: there is none by run.
 * With a project, which is of this organization, the organization is left out: the planner would join its
 * index (600,000 events: 5 ms against 0.5). Types have no index: types that 20,000 events of an organization
 * do not have take 85 ms, against 3 with one, but an index would add 40% to the cost of publishing each
 * event, and only a reader that begins far behind looks at that many.
 */
export function condition(filter: EventFilter): RawBuilder<boolean> {
  const parts = [
    sql`feed = ${filter.feed}`,
    filter.projectId === null ? sql`org_id = ${filter.orgId}` : sql`project_id = ${filter.projectId}`,
  ];
  if (filter.projectIds !== null) parts.push(sql`project_id = any(${[...filter.projectIds]}::text[])`);
  if (filter.threadId !== null) parts.push(sql`thread_id = ${filter.threadId}`);
  if (filter.runId !== null) {
    parts.push(sql`run_id = ${filter.runId}`);
    if (filter.threadId === null)
      parts.push(sql`thread_id = (select thread_id from runs where id = ${filter.runId})`);
  }
  if (filter.types !== null) parts.push(sql`type = any(${[...filter.types]}::text[])`);
  return sql<boolean>`${sql.join(parts, sql` and `)}`;
}
