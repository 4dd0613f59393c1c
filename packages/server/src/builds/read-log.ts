import type { Db } from '../db/database.ts';
import { findLogPieces } from './store.ts';
import type { Build } from './store.ts';

/** Whether a UTF-8 character begins before this offset and ends after it. */
const isInCharacter = (bytes: Buffer, at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;

/**
 * A build's log from `offset` on, at most `limit` bytes, as far as `build` knows it. No character is cut: one that
 * begins before `offset` or ends after the limit is left out. `nextOffset` is where the text ends.
 */
export async function readLog(
  db: Db,
  build: Pick<Build, 'id' | 'logs_byte_size'>,
  offset = 0,
  limit = Infinity,
): Promise<{ text: string; nextOffset: number }> {
  const end = Math.min(build.logs_byte_size, offset + limit);
  const pieces = offset < end ? await findLogPieces(db, build.id, offset, end) : [];
  if (pieces.length === 0) return { text: '', nextOffset: offset };
  const bytes = Buffer.concat(pieces.map(({ content }) => Buffer.from(content)));
  const start = pieces[0]!.offset;
  let [from, to] = [offset - start, Math.min(end - start, bytes.length)];
  while (isInCharacter(bytes, from)) from++;
  while (to > from && isInCharacter(bytes, to)) to--;
  return { text: bytes.toString('utf8', from, to), nextOffset: start + to };
}
