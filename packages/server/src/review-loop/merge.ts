/**
 * The merge by a `finalizing` loop, in this order: the loop's row records the head to merge; a draft is marked ready;
 * the provider merges or queues the pull request; its answer is stored. If the process dies in between, the next
 * attempt starts with a look. The look that sees the merge seals the thread, and the row shows that the service
 * requested the merge.
 */
import { sql } from 'kysely';
import type { MergeMethod, ReviewLoopRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { changePullRequest, loopAfterRefusal } from '../pull-requests/index.ts';
import type { LoadedPullRequest, LoopChange } from '../pull-requests/index.ts';
import { ProviderError } from '../scm/index.ts';
import type { ProviderPullRequest } from '../scm/index.ts';
import { isHeld, lockBoth, see } from '../sync/index.ts';
import type { Looked } from '../sync/index.ts';

/** How long a look may still disagree with the result of the merge. */
const PATIENCE_SECONDS = 300;
/** The time to the next look while an operation of a person is in progress. */
const HELD_SECONDS = 5;
/** Refusals whose cause the next look can find. */
const LOOKED_AT = ['conflicting', 'head_moved', 'not_open', 'no_changes'];
/** Faults that end the job like a failed look. */
const FAULTS = ['unavailable', 'access_denied', 'gone'];

interface Begun {
  headSha: string;
  isDraft: boolean;
  /** An earlier attempt may have merged the pull request. */
  isRepeated: boolean;
}

/** Merges a pull request that a look found green; `mergeMethod`: of the settings. Throws ProviderError if the provider cannot be reached. */
export async function mergeByItself(looked: Looked, mergeMethod: MergeMethod | null): Promise<void> {
  const begun = await begin(looked);
  if (!begun) return;
  const { provider, at } = looked.repository;
  const { number } = looked.loaded.row;
  try {
    if (begun.isDraft) {
      await write(looked, await provider.updatePullRequest(at, number, { draft: false }));
      // The loop may be disabled by now.
      if (!(await begin(looked))) return;
    }
    const method = mergeMethod ?? at.repository.merge_methods[0]!;
    const { headSha: expectedHeadSha } = begun;
    await write(looked, await provider.mergePullRequest(at, number, { method, expectedHeadSha }));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    await notMerged(looked, begun, error);
    if (FAULTS.includes(error.fault.code)) throw error;
  }
}

/** Null if it must not be merged now. */
async function begin(looked: Looked): Promise<Begun | null> {
  const { loaded: before } = looked;
  return inTurn(looked, async (tx, { thread, loaded }) => {
    const { row, loop } = loaded;
    if (loop?.status !== 'finalizing' || row.head_sha !== before.row.head_sha) return null;
    if (!thread) return null;
    if (await isHeld(tx, thread.thread)) {
      await changePullRequest(tx, loaded, { next_look_at: within(HELD_SECONDS) });
      return null;
    }
    if (loop.refused_summary?.mergeQueued) {
      // The queue dropped the pull request, which counts as a refusal.
      const refusal = await refusalOf(tx, loaded, loop);
      await changePullRequest(tx, loaded, {}, { merging_sha: null, ...refusal });
      return null;
    }
    const isRepeated = loop.merging_sha === row.head_sha;
    if (!isRepeated) await changePullRequest(tx, loaded, {}, { merging_sha: row.head_sha });
    return { headSha: row.head_sha, isDraft: row.draft, isRepeated };
  });
}

/** Stores the provider's state of the pull request: ready, merged, or open and queued. */
async function write(looked: Looked, pull: ProviderPullRequest): Promise<void> {
  await inTurn(looked, async (tx, locked) => {
    const { row, loop } = locked.loaded;
    const { state, draft, mergeQueued } = pull;
    // It is not merged yet, or the provider still shows the old state.
    const isToCome = loop?.status === 'finalizing' && state === 'open' && !mergeQueued;
    const summary = row.scm_summary && { ...row.scm_summary, state, draft, mergeQueued };
    const seen = await see(tx, locked, pull, {
      ...(summary ? { scm_summary: summary } : {}),
      ...(isToCome ? { next_look_at: within(await patienceOf(tx, loop.status_since)) } : {}),
    });
    if (mergeQueued) await changePullRequest(tx, seen, {}, { refused_summary: summary });
  });
}

/** The merge was refused or could not be requested. */
async function notMerged(looked: Looked, { isRepeated }: Begun, { fault }: ProviderError): Promise<void> {
  // The merge may have succeeded: only a look can find out.
  if (fault.code === 'unavailable') return;
  await inTurn(looked, async (tx, { loaded }) => {
    const { row, loop } = loaded;
    if (!loop || row.state === 'merged') return;
    const undone = isRepeated ? {} : { merging_sha: null };
    if (FAULTS.includes(fault.code) || loop.status !== 'finalizing')
      return void (await changePullRequest(tx, loaded, {}, undone));
    const reason = fault.code === 'merge_refused' ? fault.reason : fault.code;
    const seconds = await patienceOf(tx, loop.status_since);
    const isLookedAt = LOOKED_AT.includes(reason) && seconds < PATIENCE_SECONDS;
    await changePullRequest(
      tx,
      loaded,
      isLookedAt ? { next_look_at: within(seconds) } : {},
      isLookedAt ? undone : { ...undone, ...(await refusalOf(tx, loaded, loop)) },
    );
  });
}

const refusalOf = async (tx: Tx, { row }: LoadedPullRequest, loop: ReviewLoopRow): Promise<LoopChange> =>
  loopAfterRefusal(loop, { now: await nowOf(tx), summary: row.scm_summary });

const within = (seconds: number) => sql<Date>`least(next_look_at, now() + ${seconds} * interval '1 second')`;

async function nowOf(tx: Tx): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(tx.db);
  return rows[0]!.now;
}

/** The delay of the next look: the time that the merge has taken so far, so that looks become rarer. */
async function patienceOf(tx: Tx, since: Date): Promise<number> {
  const seconds = Math.ceil(((await nowOf(tx)).getTime() - since.getTime()) / 1_000);
  return Math.min(PATIENCE_SECONDS, Math.max(1, seconds));
}

type Locked = Awaited<ReturnType<typeof lockBoth>>;

/** A transaction with the pull request locked, if this worker still owns the job. */
const inTurn = <T>(
  { ctx, job, loaded }: Looked,
  change: (tx: Tx, locked: Locked) => Promise<T>,
): Promise<T> =>
  transaction(ctx, async (tx) => {
    await job.fence(tx);
    return change(tx, await lockBoth(tx, { threadId: loaded.row.thread_id, id: loaded.row.id }));
  });
