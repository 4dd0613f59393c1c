/** What waits for a person, out of what the lists say. Pure, so that it can be tested without a service. */
import type { Apply, Build, PullRequestSummary, Thread } from '@headrace/client';
import { standingOf } from '../pull-requests/standing.ts';
import type { Standing } from '../pull-requests/standing.ts';

/** An item of the inbox. `id` is what a user dismisses. */
export type Waiting =
  | { kind: 'approval'; id: string; thread: Thread; at: string }
  | { kind: 'conflict'; id: string; thread: Thread | null; apply: Apply; at: string }
  | { kind: 'run'; id: string; thread: Thread; at: string }
  | { kind: 'build'; id: string; thread: Thread | null; build: Build; at: string }
  | {
      kind: 'pull';
      id: string;
      thread: Thread;
      pull: PullRequestSummary;
      standing: Standing;
      at: string;
    };

export interface Lists {
  /** At least those that wait, failed or run. */
  threads: Thread[];
  /** Conflicted ones. */
  applies: Apply[];
  /** The newest builds of any status. */
  builds: Build[];
  /** With a pull request that is open. */
  reviewed: Thread[];
  dismissed: ReadonlySet<string>;
}

/** Newest first. A conflict counts until its thread is applied, archived or queued again; a failed build until the next one. */
export function waitingOf({ threads, applies, builds, reviewed, dismissed }: Lists): Waiting[] {
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  const items = [
    ...threads.flatMap((thread): Waiting[] => {
      const at = thread.updatedAt;
      if (thread.status === 'waiting' && thread.waitingOn.some((one) => one.startsWith('approval:')))
        return [{ kind: 'approval', id: thread.waitingOn.join(), thread, at }];
      return thread.status === 'failed'
        ? [{ kind: 'run', id: thread.latestRunId ?? thread.id, thread, at }]
        : [];
    }),
    ...newestByThread(applies).flatMap((apply): Waiting[] => {
      const thread = byId.get(apply.threadId) ?? null;
      const isOver =
        thread !== null &&
        (thread.sealedAt !== null ||
          thread.archivedAt !== null ||
          thread.blockedOn.some((one) => one.startsWith('apply:')));
      return apply.status === 'conflicted' && !isOver
        ? [{ kind: 'conflict', id: apply.id, thread, apply, at: apply.createdAt }]
        : [];
    }),
    ...newestByThread(builds).flatMap((build): Waiting[] => {
      const thread = byId.get(build.threadId ?? '') ?? null;
      return build.status === 'failed' && build.error?.code !== 'cancelled' && thread?.archivedAt == null
        ? [{ kind: 'build', id: build.id, thread, build, at: build.createdAt }]
        : [];
    }),
    ...reviewed.flatMap(pullOf),
  ];
  return items.filter(({ id }) => !dismissed.has(id)).sort((a, b) => b.at.localeCompare(a.at));
}

/** A pull request that goes on only after a person did something. What is taken off the list is back as that changes. */
function pullOf(thread: Thread): Waiting[] {
  const pull = thread.primaryPullRequest;
  if (pull?.state !== 'open' || thread.archivedAt !== null) return [];
  const standing = standingOf(pull);
  if (!standing.isForPerson) return [];
  const { push, reviewLoop: loop } = pull;
  const id = [pull.id, standing.status, push.reason, push.error?.code, ...stopOf(loop), pull.headSha].join(
    ':',
  );
  return [{ kind: 'pull', id, thread, pull, standing, at: loop?.updatedAt ?? pull.updatedAt }];
}

/** Tells apart each time that a loop stopped. In an error it looks again every five minutes, which is no other stop. */
const stopOf = (loop: PullRequestSummary['reviewLoop']) =>
  loop?.status === 'error' ? [loop.lastErrorCode, loop.lastFixRunId] : [loop?.blockedReason, loop?.updatedAt];

/** What rows may read beyond the lists: opening the page must not cost more with each thing that waits. */
const MOST_READS = 2;
/** An approval and its tool; a run. */
const READS: Record<Waiting['kind'], number> = { approval: 2, run: 1, conflict: 0, build: 0, pull: 0 };

/** The items that are shown with what only further reads tell: the first ones, approvals before all else. */
export function detailedOf(items: Waiting[]): ReadonlySet<string> {
  const detailed = new Set<string>();
  let left = MOST_READS;
  for (const { id, kind } of items.toSorted((a, b) => READS[b.kind] - READS[a.kind])) {
    if (READS[kind] > left) continue;
    left -= READS[kind];
    detailed.add(id);
  }
  return detailed;
}

/** Threads at work now, the longest first. */
export const runningOf = (threads: Thread[]): Thread[] =>
  threads
    .filter(({ status }) => status === 'running' || status === 'queued' || status === 'blocked')
    .sort((a, b) => (a.runStartedAt ?? a.updatedAt).localeCompare(b.runStartedAt ?? b.updatedAt));

/** The lists are newest first. What an app has without a thread counts as that of one. */
function newestByThread<T extends { threadId: string | null; projectId: string }>(items: T[]): T[] {
  const seen = new Map<string, T>();
  for (const item of items) {
    const of = item.threadId ?? item.projectId;
    if (!seen.has(of)) seen.set(of, item);
  }
  return [...seen.values()];
}
