/**
 * Admits an apply. Resolutions are checked against the merge, which is slow and must not hold locks. So the
 * merge is computed before the transaction, from sources that never change, and the transaction checks that
 * these are still the ones to merge.
 */
import type { ApplyRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, invalid, notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { nextApplySequence, scopeOf } from '../projects/index.ts';
import { faultsMapped, mergeRequest } from '../sources/index.ts';
import type { MergeSides } from '../sources/index.ts';
import { changeThread, loadThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { resolutionFields } from './merge-faults.ts';
import { lockProjectAndThread, requireApplicable } from './policy.ts';
import type { Decision } from './policy.ts';
import { Apply, ApplyBody } from './schemas.ts';
import { insertApply } from './store.ts';
import { applyView } from './view.ts';
import { wakeQueue } from './wake-queue.ts';

export const createApply = write({
  name: 'applies.createApply',
  summary: 'Apply a draft to the head',
  description:
    "Queues the thread's latest source for a three-way merge with the head. Applies of an app run one after the other. Once applied, the thread is sealed and work continues in a new thread; with conflicts in manual mode the head stays and the thread is open again.",
  access: { permissions: ['project:update', 'thread:update'] },
  body: ApplyBody,
  legacyKeys: ['/clientOperationId'],
  responses: { 202: Ok({ apply: Apply }) },
  before: (call) => checkResolutions(call),
  async handle(tx, call, _receipt, refusal) {
    const { body } = call;
    const {
      thread: { id, project_id: projectId },
    } = await loadThread(tx.db, call);
    const loaded = await lockProjectAndThread(tx, projectId, id);
    if (!loaded) throw notFound('thread');
    const sides = await requireApplicable(tx, loaded, body);
    if (refusal) throw refusal;
    const apply = await queueApply(tx, loaded, sides, { ...body, actorId: call.principal.actorId });
    return { status: 202, body: { ok: true, apply: applyView(apply) }, scope: scopeOf(loaded.project) };
  },
});

/**
 * Refuses resolutions that do not fit the merge (400). Returns an error that refuses the apply for another
 * reason: the resolutions are unchecked then.
 */
async function checkResolutions(call: Call<unknown, Decision>): Promise<ApiError | null> {
  const { ctx, body } = call;
  if (!body.resolutions?.length) return null;
  let sides: MergeSides;
  try {
    sides = await transaction(ctx, async (tx) => requireApplicable(tx, await loadThread(tx.db, call), body));
  } catch (error) {
    // The transaction decides on it: this call may be the replay of one that was admitted.
    if (error instanceof ApiError) return error;
    throw error;
  }
  const { faults } = await faultsMapped(ctx.merger.merge(mergeRequest(ctx, sides, body.resolutions)));
  if (faults.length) throw invalid(...resolutionFields(faults));
  return null;
}

async function queueApply(
  tx: Tx,
  { thread, project }: LoadedThread,
  sides: MergeSides,
  { conflictResolution, expectedHeadSourceId, resolutions, actorId }: Decision & { actorId: string },
): Promise<ApplyRow> {
  const apply = await insertApply(tx, {
    org_id: thread.org_id,
    id: newId('apl'),
    project_id: project.id,
    thread_id: thread.id,
    listed: project.kind === 'platform',
    sequence: await nextApplySequence(tx, project.id),
    conflict_resolution: conflictResolution ?? 'agent',
    base_source_id: sides.base,
    draft_source_id: sides.draft,
    expected_head_source_id: expectedHeadSourceId ?? null,
    resolutions: json(resolutions ?? []),
    created_by: actorId,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, 'platform.apply.queued', {
    id: apply.id,
    status: apply.status,
    sourceId: null,
  });
  await changeThread(tx, { thread, project }, { active_apply_id: apply.id }, 'always');
  await wakeQueue(tx, apply);
  return apply;
}
