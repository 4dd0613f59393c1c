/** PostgreSQL inside this process. For a PostgreSQL server, replace it with `pg`: the statements are the same. */
import { PGlite } from '@electric-sql/pglite';
import { SCHEMA } from './schema.js';

/** `query(text, values)` and `transaction(work)`. Without a folder, it is in memory. */
export async function openDatabase(folder) {
  const db = await PGlite.create(folder);
  await db.exec(SCHEMA);
  return db;
}
