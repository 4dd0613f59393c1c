/** What rooms keep sealed, in batches, so that a changed secret key can seal it again. */
import { sql } from 'kysely';
import type { Db } from './db/database.ts';

export interface SealedRow {
  /** Names the row; batches are in its order. */
  id: string;
  /** What it is sealed for. */
  place: string;
  sealed: Buffer;
}

export interface SealedRows {
  /** For a person, in the plural. */
  what: string;
  purpose: string;
  /** The next rows behind this id. */
  read(db: Db, after: string, limit: number): Promise<SealedRow[]>;
  /** Replaces what was read; without effect where it was changed since. */
  write(db: Db, row: SealedRow, sealed: Buffer): Promise<void>;
}

/** A column of a room's own table, sealed for its row's organization and id. */
export const sealedColumn = (
  { table, column }: { table: string; column: string },
  { what, purpose }: Pick<SealedRows, 'what' | 'purpose'>,
): SealedRows => ({
  what,
  purpose,
  async read(db, after, limit) {
    const { rows } = await sql<SealedRow>`
      select id, org_id || ' ' || id as place, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(column)} is not null and id > ${after} order by id limit ${limit}`.execute(db);
    return rows;
  },
  async write(db, { id, sealed: was }, sealed) {
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${sealed}
      where id = ${id} and ${sql.ref(column)} = ${was}`.execute(db);
  },
});
