import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { lockAsked } from '../sync/index.ts';
import { changePullRequest } from './change-pull-request.ts';
import { enqueueSync } from './enqueue-sync.ts';
import { PullRequest } from './schemas.ts';
import { pushAfter } from './state.ts';
import { pullRequestView } from './view.ts';

export const syncPullRequest = write({
  name: 'pullRequests.syncPullRequest',
  summary: 'Push what the thread has and look at the provider now',
  description: 'One that is not open, or of an archived thread, is only looked at.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: Body({}),
  responses: { 202: Ok({ pullRequest: PullRequest }) },
  async handle(tx, call) {
    const { thread, loaded } = await lockAsked(tx, call);
    const { row } = loaded;
    const isBehind = row.head_source_id !== null && thread.thread.latest_source_id !== row.head_source_id;
    const isPushed =
      isBehind && row.state === 'open' && row.transferred_at === null && thread.thread.archived_at === null;
    const changed = await changePullRequest(
      tx,
      loaded,
      isPushed
        ? {
            push_status: pushAfter(row.push_status, 'queue'),
            push_error: row.push_status === 'diverged' ? row.push_error : null,
            push_attempts: 0,
            push_retry_at: null,
          }
        : {},
    );
    await enqueueSync(tx, row);
    return {
      status: 202,
      body: { ok: true, pullRequest: pullRequestView(changed) },
      scope: scopeOf(thread.project),
    };
  },
});
