/** What each thread is in the race: where it left the head, and where it joined, stopped or is now. */
import type { Apply, HeadRecord, Thread } from '@headrace/client';

export type HeadOf = Pick<HeadRecord, 'revision' | 'sourceId' | 'updatedAt' | 'applyId'>;
export type ThreadOf = Pick<
  Thread,
  | 'id'
  | 'title'
  | 'status'
  | 'sourceId'
  | 'latestSourceId'
  | 'forkedFrom'
  | 'archivedAt'
  | 'createdAt'
  | 'updatedAt'
> &
  // Where there is a repository.
  Partial<Pick<Thread, 'baseBranch' | 'primaryPullRequest'>>;
export type ApplyOf = Pick<
  Apply,
  | 'id'
  | 'sequence'
  | 'threadId'
  | 'status'
  | 'baseSourceId'
  | 'draftSourceId'
  | 'conflicts'
  | 'repairs'
  | 'error'
  | 'createdAt'
>;

export interface RaceData {
  /** In any order. */
  heads: readonly HeadOf[];
  threads: readonly ThreadOf[];
  applies: readonly ApplyOf[];
}

/** `open`: it goes on. The others stop beside the head: in the queue, at a conflict, at a failed apply. */
export type Ending = 'open' | 'queue' | 'conflict' | 'failure' | 'joined';

/** A thread in the race. */
export interface Strand {
  threadId: string;
  /** Null while the thread's page of the list has not been read. */
  thread: ThreadOf | null;
  ending: Ending;
  /** A thread's status; `joining`, `conflicted`, `failed` or `applied` by its apply. */
  status: string;
  /** The apply that joined, or the last one if it says how the thread ends. */
  apply: ApplyOf | null;
  /** The revision that it is based on; null if that is not among the heads that were read. */
  base: number | null;
  /** The revision that it joined as. */
  joined: number | null;
  /** From 1, in the queue of applies. */
  position: number | null;
}

export function strandsOf({ heads, threads, applies }: RaceData): Strand[] {
  const byRevision = heads.toSorted((a, b) => a.revision - b.revision);
  const joins = new Map(
    byRevision.flatMap(({ applyId, revision }) => (applyId ? [[applyId, revision]] : [])),
  );
  const ofThread = Map.groupBy(
    applies.toSorted((a, b) => b.sequence - a.sequence),
    ({ threadId }) => threadId,
  );
  const queue = applies
    .filter(({ status }) => status === 'queued')
    .toSorted((a, b) => a.sequence - b.sequence);
  const known = new Map(threads.map((thread) => [thread.id, thread]));
  const ids = new Set(known.keys());
  // A thread of an older page is known by its apply alone.
  for (const { id, threadId, status } of applies) if (joins.has(id) || status === 'queued') ids.add(threadId);
  const oldest = byRevision[0]?.updatedAt ?? '';
  const revisionsOf = Map.groupBy(byRevision, ({ sourceId }) => sourceId);

  return [...ids].toSorted().flatMap((threadId): Strand[] => {
    const thread = known.get(threadId) ?? null;
    const own = ofThread.get(threadId) ?? [];
    const joining = own.find(({ id }) => joins.has(id)) ?? null;
    const apply = joining ?? own[0] ?? null;
    const from = thread ? thread.sourceId : (apply?.baseSourceId ?? null);
    const joined = joining && (joins.get(joining.id) ?? null);
    const base = baseAmong((from && revisionsOf.get(from)) || [], {
      before: joined,
      at: thread?.createdAt ?? apply?.createdAt ?? null,
    });
    // Its revision is on an older page of the history: it is drawn when that is read.
    if (joined === null && apply?.status === 'applied' && apply.createdAt < oldest) return [];
    const end = joined === null ? endingOf(thread, apply, queue) : ended('joined', 'applied', apply);
    return [{ threadId, thread, base, joined, ...end }];
  });
}

/** A source may be the head more than once: the thread left from the last time before it was created. */
function baseAmong(
  heads: readonly HeadOf[],
  { before, at }: { before: number | null; at: string | null },
): number | null {
  const possible = heads.filter(({ revision }) => before === null || revision < before);
  const found = possible.findLast(({ updatedAt }) => at === null || updatedAt <= at) ?? possible[0];
  return found?.revision ?? null;
}

type End = Pick<Strand, 'ending' | 'status' | 'apply' | 'position'>;

const ended = (ending: Ending, status: string, apply: ApplyOf | null): End => ({
  ending,
  status,
  apply,
  position: null,
});

function endingOf(thread: ThreadOf | null, apply: ApplyOf | null, queue: readonly ApplyOf[]): End {
  // Applied, but the head has not been read since: first in the queue for a moment more.
  if (apply?.status === 'applied') return { ...ended('queue', 'joining', apply), position: 0 };
  if (apply?.status === 'queued')
    return { ...ended('queue', 'joining', apply), position: queue.indexOf(apply) + 1 };
  const status = thread?.status ?? 'ready';
  // What the thread did after its last apply says more than that apply.
  const isLast = apply !== null && apply.draftSourceId === thread?.latestSourceId && status === 'ready';
  if (isLast && apply.status === 'conflicted') return ended('conflict', 'conflicted', apply);
  if (isLast && apply.status === 'failed') return ended('failure', 'failed', apply);
  return ended('open', status, null);
}

/** The page's filters. An archived thread is shown only when asked for. */
export function isShown(
  strand: Strand,
  filter: { status?: string | undefined; query?: string | undefined },
): boolean {
  // A search is answered by the list of threads.
  if (filter.query && !strand.thread) return false;
  if (filter.status !== undefined) return strand.status === filter.status;
  return strand.status !== 'archived';
}
