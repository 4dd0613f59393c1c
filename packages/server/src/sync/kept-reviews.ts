/**
 * A cache of review threads in this process. An idle loop needs them at every look, and GitHub allows a credential
 * 5,000 such reads per hour: a thousand loops would need twelve times as many.
 */
import type { Context } from '../context.ts';
import type { ReviewThread } from '../scm/index.ts';

const MOST = 1_000;
/** Longer ones are not cached. All together take at most 32 MiB. */
const MOST_CHARACTERS = 16_384;

interface Reviews {
  threads: ReviewThread[];
  changesRequested: number;
}
interface Kept {
  mark: string;
  readAt: number;
  reviews: Reviews;
}
const keptBy = new WeakMap<Context, Map<string, Kept>>();

/** The reviews of a pull request, if they were read for this mark and within `ms`. */
export function keptReviews(ctx: Context, id: string, mark: string | null, ms: number): Reviews | null {
  const kept = keptBy.get(ctx)?.get(id);
  return kept && kept.mark === mark && Date.now() - kept.readAt < ms ? kept.reviews : null;
}

export function keepReviews(ctx: Context, id: string, mark: string | null, reviews: Reviews | null): void {
  const all = keptBy.get(ctx) ?? new Map<string, Kept>();
  keptBy.set(ctx, all);
  all.delete(id);
  if (mark === null || reviews === null || JSON.stringify(reviews).length > MOST_CHARACTERS) return;
  all.set(id, { mark, readAt: Date.now(), reviews });
  if (all.size > MOST) all.delete(all.keys().next().value!);
}
