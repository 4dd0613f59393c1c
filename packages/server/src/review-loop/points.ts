import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import type { ReviewThread } from '../scm/index.ts';

/** An unresolved review thread whose last comment asks for something that no pass was told of. */
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
 * The points among unresolved review threads: the last comment is by another than the service, who has write
 * access, and newer than the one that the last pass was told of.
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
    // Where the comment was deleted that a pass was told of, the last one is older.
    return !before || (before.comment_id !== commentId && before.comment_at <= commentAt);
  });
}

function pointOf({ id, isResolved, path, line, comments }: ReviewThread): Point[] {
  const last = comments.at(-1);
  if (isResolved || !last || last.isOwn || !last.canWrite) return [];
  const { id: commentId, author, body, createdAt } = last;
  return [{ reviewThreadId: id, commentId, commentAt: new Date(createdAt), author, path, line, body }];
}
