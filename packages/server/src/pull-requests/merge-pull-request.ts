import Type from 'typebox';
import { Body, Enum, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { hold, lockAsked, merging, notOpen } from '../sync/index.ts';
import { MAX_BODY, MAX_TITLE, PullRequest } from './schemas.ts';

export const mergePullRequest = outsideWrite({
  name: 'pullRequests.mergePullRequest',
  summary: 'Merge a pull request',
  description:
    'Afterwards it is merged, or open with `scmSummary.mergeQueued` if the provider queues merges. A merge seals the thread: its queued runs are cancelled, and further work needs a new thread.',
  access: { permissions: ['thread:update', 'repo:update'] },
  capability: 'sourceControl',
  body: Body({
    method: Type.Optional(
      Enum(['merge', 'squash', 'rebase'], {
        description: 'Default: the first one that the repository allows.',
      }),
    ),
    title: Type.Optional(Text('Overdue reminders', { minLength: 1, maxLength: MAX_TITLE })),
    message: Type.Optional(Text('Reminds customers of overdue invoices.', { maxLength: MAX_BODY })),
    expectedHeadSha: Type.Optional(
      Text('9b6f3c1e0d5a4b2c8e7f6a5d4c3b2a1908f7e6d5', { minLength: 1, maxLength: 64 }),
    ),
  }),
  responses: { 200: Ok({ pullRequest: PullRequest }) },
  errors: [503],
  async claim(tx, call, operationId) {
    const { thread, loaded } = await lockAsked(tx, call);
    await hold(tx, thread.thread, operationId);
    const { row } = loaded;
    if (row.state !== 'open') throw notOpen();
    return {
      target: {
        ...call.body,
        id: row.id,
        orgId: row.org_id,
        threadId: row.thread_id,
        repositoryId: row.repository_id,
        number: row.number,
        mergedBy: call.principal.actorId,
        address: call.address,
      },
      scope: scopeOf(thread.project),
    };
  },
  effect: merging,
});
