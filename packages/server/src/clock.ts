import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/**
 * Deadlines are set and compared by the database's clock, never by two machines'. Tests move it on; a
 * service leaves it at 0.
 */
export interface Clock {
  offsetMs: number;
}

/** The time, for a statement: the database's, plus what a test added. */
export const databaseNow = ({ clock }: { clock: Clock }): RawBuilder<Date> =>
  sql<Date>`(now() + ${clock.offsetMs} * interval '1 millisecond')`;
