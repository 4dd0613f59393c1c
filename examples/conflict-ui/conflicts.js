/** The server's part: reads the conflicts of a draft, and applies the decisions. */
import { isCode } from '@headrace/client';

/** The current conflicts between draft and head: each file with its sides and git's merged text. */
export async function readConflicts(headrace, appId, threadId) {
  const { latestSourceId: sourceId } = await headrace.threads.get(appId, threadId);
  const { headSourceId, conflicts } = await headrace.applies.preview(appId, threadId, { expectedSourceId: sourceId });
  // The same head for all files: if it moves meanwhile, the service refuses.
  const decision = { expectedSourceId: sourceId, expectedHeadSourceId: headSourceId };
  const files = [];
  for (const { path } of conflicts) files.push(await headrace.applies.previewFile(appId, threadId, { ...decision, path }));
  return { sourceId, headSourceId, files };
}

/**
 * `decisions`: for each file `{ path, take: 'head' | 'draft' }` or `{ path, content }`. Own texts become an edit of the
 * draft, and the draft's side then wins. Returns the apply, or `{ status: 'stale' }` if draft or head have changed since
 * they were read: nothing was applied, so read again. `key` makes a retry harmless.
 */
export async function applyDecisions(headrace, { appId, threadId, sourceId, headSourceId, decisions, key }) {
  const changes = decisions.filter(({ content }) => content !== undefined).map(({ path, content }) => ({ path, content }));
  try {
    let expectedSourceId = sourceId;
    if (changes.length) {
      const edit = { expectedSourceId, changes, message: 'Conflicts resolved by hand' };
      expectedSourceId = (await headrace.edits.create(appId, threadId, edit, { idempotencyKey: `${key}.edit` })).id;
    }
    const resolutions = decisions.map(({ path, take = 'draft' }) => ({ path, take }));
    const decision = { expectedSourceId, expectedHeadSourceId: headSourceId, resolutions, conflictResolution: 'manual' };
    const apply = await headrace.applies.create(appId, threadId, decision, { idempotencyKey: `${key}.apply` }).done();
    return apply.error?.startsWith('stale_head') ? { status: 'stale' } : apply;
  } catch (error) {
    if (isCode(error, 'stale_head') || isCode(error, 'stale_source')) return { status: 'stale' };
    throw error;
  }
}
