import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** The tables with pieces of logs, and whose they are. */
const TABLES = {
  build: sql`build_logs where build_id`,
  setup: sql`setup_logs where setup_id`,
} as const;

/** Whose log is read, as far as it is known. */
export interface LogOf {
  kind: keyof typeof TABLES;
  id: string;
  logs_byte_size: number;
}

/** Whether a UTF-8 character begins before this offset and ends after it. */
const isInCharacter = (bytes: Buffer, at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;

/**
 * A log from `offset` on, at most `limit` bytes, as far as `of` knows it. No character is cut: one that
 * begins before `offset` or ends after the limit is left out. `nextOffset` is where the text ends.
 */
export async function readLog(
  db: Db,
  of: LogOf,
  offset = 0,
  limit = Infinity,
): Promise<{ text: string; nextOffset: number }> {
  const end = Math.min(of.logs_byte_size, offset + limit);
  const pieces = offset < end ? await findLogPieces(db, of, offset, end) : [];
  if (pieces.length === 0) return { text: '', nextOffset: offset };
  const bytes = Buffer.concat(pieces.map(({ content }) => Buffer.from(content)));
  const start = pieces[0]!.offset;
  let [from, to] = [offset - start, Math.min(end - start, bytes.length)];
  while (isInCharacter(bytes, from)) from++;
  while (to > from && isInCharacter(bytes, to)) to--;
  return { text: bytes.toString('utf8', from, to), nextOffset: start + to };
}

/**
 * The pieces of a log that have bytes from `from` up to `to`, in order, each with its offset. Of all others it
 * reads only the size, which PostgreSQL knows without their text.
 */
export async function findLogPieces(
  db: Db,
  { kind, id }: Pick<LogOf, 'kind' | 'id'>,
  from: number,
  to: number,
): Promise<{ content: string; offset: number }[]> {
  const { rows } = await sql<{ content: string; offset: number }>`
    select content, ends - bytes as offset from (
      select content, octet_length(content) as bytes, sum(octet_length(content)) over (order by journal_offset) as ends
      from ${TABLES[kind]} = ${id}
    ) as pieces where ends > ${from} and ends - bytes < ${to} order by ends`.execute(db);
  return rows;
}
