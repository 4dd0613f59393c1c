import type { LocalCommentRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';

/** A comment of a pull request, locked. Throws 404. */
export async function loadComment(
  tx: Tx,
  { repositoryId, number }: { repositoryId: string; number: number },
  id: string,
): Promise<LocalCommentRow> {
  const row = await tx.db
    .selectFrom('local_comments')
    .selectAll()
    .where('id', '=', id)
    .where('repository_id', '=', repositoryId)
    .where('number', '=', number)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('comment');
  return row;
}
