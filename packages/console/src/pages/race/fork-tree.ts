/** Who is a fork of whom: threads as trees. */
import type { ThreadOf } from './strands.ts';

export interface ForkNode {
  thread: ThreadOf;
  /** The thread that it is a fork of is not among those that were read. */
  isParentUnread: boolean;
  /** Oldest first. */
  forks: ForkNode[];
}

/** Families of at least two threads, and forks whose other threads are not known; the newest family first. */
export function forkTrees(threads: readonly ThreadOf[]): ForkNode[] {
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  const parentOf = ({ forkedFrom }: ThreadOf) => (forkedFrom ? byId.get(forkedFrom.threadId) : undefined);
  const forksOf = Map.groupBy(threads.filter(parentOf), (thread) => thread.forkedFrom!.threadId);
  const node = (thread: ThreadOf): ForkNode => ({
    thread,
    isParentUnread: thread.forkedFrom !== null && parentOf(thread) === undefined,
    forks: (forksOf.get(thread.id) ?? []).toSorted(older).map(node),
  });
  return threads
    .filter((thread) => !parentOf(thread) && (thread.forkedFrom !== null || forksOf.has(thread.id)))
    .toSorted((a, b) => older(b, a))
    .map(node);
}

const older = (a: ThreadOf, b: ThreadOf) =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1;
