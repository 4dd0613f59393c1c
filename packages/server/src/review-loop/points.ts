import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import type { ReviewThread } from '../scm/index.ts';

/** An unresolved review thread whose last comment is in no pass yet. */
export interface Point {
  reviewThreadId: string;
  commentId: string;
  commentAt: Date;
  author: string;
  path: string | null;
  line: number | null;
  body: string;
}

/**
 * The points among unresolved review threads. The last comment is not the service's own, its author has write
 * access, and it is newer than the comment in the last pass.
 */
export async function newPoints(
  db: Db | Tx['db'],
  loopId: string,
  reviewThreads: ReviewThread[] | null,
): Promise<Point[]> {
  const points = (reviewThreads ?? []).flatMap(pointOf);
  if (points.length === 0) return [];
  const told = await db
    .selectFrom('review_points')
    .distinctOn('review_thread_id')
    .select(['review_thread_id', 'comment_id', 'comment_at'])
    .where('loop_id', '=', loopId)
    .where(
      'review_thread_id',
      'in',
      points.map(({ reviewThreadId }) => reviewThreadId),
    )
    .orderBy('review_thread_id')
    .orderBy('comment_at', 'desc')
    .orderBy('pass_id', 'desc')
    .execute();
  const toldOf = new Map(told.map((row) => [row.review_thread_id, row]));
  return points.filter(({ reviewThreadId, commentId, commentAt }) => {
    const before = toldOf.get(reviewThreadId);
    // If the comment in the pass was deleted, the last comment is older.
    return !before || (before.comment_id !== commentId && before.comment_at <= commentAt);
  });
}

function pointOf({ id, isResolved, path, line, comments }: ReviewThread): Point[] {
  const last = comments.at(-1);
  if (isResolved || !last || last.isOwn || !last.canWrite) return [];
  const { id: commentId, author, body, createdAt } = last;
  return [{ reviewThreadId: id, commentId, commentAt: new Date(createdAt), author, path, line, body }];
}
