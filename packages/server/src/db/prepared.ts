/**
 * Statements that run often, prepared once per connection: planning them costs PostgreSQL as much as
 * running them (a receipt's insert 170 µs against 83). Such a statement names its columns, no `*`: it would
 * break with the migration that adds one. And what it reads, it finds by an index that no other could stand in
 * for: its plan is made once, for tables as small as they are then (database.ts keeps it from reading all of
 * them).
 */
import { CompiledQuery } from 'kysely';
import type { Compilable, Kysely } from 'kysely';
import type pg from 'pg';
import type { Database } from './schema.ts';
import { TimedClient } from './timed-client.ts';

const names = new Map<string, string>();

/** A statement of constant text; returns what makes the query of its values. */
export function prepared<Row>(name: string, text: string): (values: unknown[]) => CompiledQuery<Row> {
  names.set(text, name);
  return (values) => CompiledQuery.raw(text, values);
}

/** A built query as such a statement: for one whose text has few forms, whatever its values. */
export function preparedAs<Row>(name: string, query: CompiledQuery<Row>): CompiledQuery<Row> {
  if (!names.has(query.sql)) names.set(query.sql, `${name}_${names.size}`);
  return query;
}

/** Runs a built query as such a statement; returns its rows. */
export const rowsPrepared = async <Row>(
  db: Kysely<Database>,
  name: string,
  query: Compilable<Row>,
): Promise<Row[]> => (await db.executeQuery(preparedAs(name, query.compile()))).rows;

/** Sends such statements by their names. */
export class PreparingClient extends TimedClient {
  // Kysely hands over text and values; what else pg takes goes through as it is.
  override query = ((text: unknown, values?: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' && values !== undefined ? names.get(text) : undefined;
    return (super.query as (...args: unknown[]) => unknown)(
      name === undefined ? text : { name, text, values },
      ...(name === undefined ? [values, ...rest] : rest),
    );
  }) as pg.Client['query'];
}

/**
 * Sends no statement by a name: behind a pooler that does not keep names apart, one client's name is another's
 * statement (PgBouncer before 1.21).
 */
export class UnnamedClient extends TimedClient {
  override query = ((query: unknown, ...rest: unknown[]) => {
    const isNamed = typeof query === 'object' && query !== null && 'name' in query;
    return (super.query as (...args: unknown[]) => unknown)(
      isNamed ? { ...query, name: undefined } : query,
      ...rest,
    );
  }) as pg.Client['query'];
}
