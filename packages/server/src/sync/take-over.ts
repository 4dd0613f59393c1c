/** Others' commits become the thread's. */
import { recordCheckpoint } from '../checkpoints/index.ts';
import { commitsBetween, commitSource, fetchCommit } from '../commits/index.ts';
import type { Context } from '../context.ts';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { inlineText } from '../inline-text.ts';
import { recordSystemMessage } from '../messages/index.ts';
import { changePullRequest } from '../pull-requests/index.ts';
import type { SourceRow } from '../sources/index.ts';
import { changeThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { renewedDeadline } from '../workspaces/index.ts';
import { isStillThere } from './branch-facts.ts';
import { inStep, namedIn, toPush } from './push-ends.ts';
import { lockForStep } from './lock-for-step.ts';
import type { Decided } from './lock-for-step.ts';

/** The files of the branch become the thread's: it has none of its own, or a caller has decided so. */
export async function takeOver(at: Decided): Promise<void> {
  const note = await noteOf(at);
  await theirSource(at, async (tx, project, theirs) => {
    const locked = await lockForStep(tx, at, project);
    if (!locked) return;
    await moveThread(tx, at.ctx, locked.thread, { sourceId: theirs.id, note });
    await changePullRequest(tx, locked.loaded, {
      ...inStep(locked.loaded),
      head_sha: at.branch.sha!,
      head_source_id: theirs.id,
      merge_parent_sha: null,
      named_source_id: null,
    });
  });
}

/** The thread's files are kept, as a commit upon the branch: a caller has decided so. */
export async function takeThread(at: Decided): Promise<void> {
  await theirSource(at, async (tx, project, theirs) => {
    const locked = await lockForStep(tx, at, project);
    if (locked)
      await changePullRequest(tx, locked.loaded, {
        ...toPush(locked.loaded),
        head_sha: at.branch.sha!,
        head_source_id: theirs.id,
        named_source_id: namedIn(locked.loaded.row),
      });
  });
}

/** The source of the branch's commit; `also` is done in the transaction that stores it. */
export const theirSource = (
  { ctx, row, repository, branch }: Decided,
  also?: (tx: Tx, project: ProjectRow, theirs: SourceRow) => Promise<void>,
): Promise<SourceRow> =>
  commitSource(ctx, { org_id: row.org_id, id: row.project_id }, repository, {
    commitSha: branch.sha!,
    branch: row.head_ref,
    ...(also ? { also } : {}),
  });

/** What the thread is told of others' commits: how many, and the subjects of the newest. */
export async function noteOf({ ctx, repository, thread, row, branch }: Decided): Promise<string> {
  const isKnown = row.head_source_id !== null && (await isStillThere(ctx, repository, row.head_sha));
  const since = isKnown ? row.head_sha : thread.base_commit_sha!;
  await fetchCommit(ctx, repository, { commitSha: since });
  const { count, subjects } = await commitsBetween(ctx, repository, since, branch.sha!);
  return `${count} commits from the branch: ${subjects.map((one) => inlineText(one)).join(', ')}`;
}

interface Move {
  sourceId: string;
  note: string;
}

/** A source becomes the latest one of a locked thread: checkpoint, message, thread. */
export async function moveThread(
  tx: Tx,
  ctx: Context,
  loaded: LoadedThread,
  { sourceId, note }: Move,
): Promise<void> {
  await recordCheckpoint(tx, loaded, { sourceId, kind: 'edit', runId: null });
  await recordSystemMessage(tx, loaded, note);
  await changeThread(tx, loaded, {
    latest_source_id: sourceId,
    last_run_failed: false,
    ...(await renewedDeadline(ctx, tx.db, loaded.thread)),
  });
}
