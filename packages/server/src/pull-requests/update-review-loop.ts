import Type from 'typebox';
import type { Static } from 'typebox';
import { requirePermissions } from '../http/authorize.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { isOthers, lockAsked, notOpen } from '../sync/index.ts';
import { requireOpen } from '../threads/index.ts';
import { changePullRequest } from './change-pull-request.ts';
import { enqueueSync } from './enqueue-sync.ts';
import { loopAfter, loopAfterChoice } from './loop-state.ts';
import type { LoopChange } from './loop-state.ts';
import { PullRequest } from './schemas.ts';
import { pullRequestView } from './view.ts';
import type { LoadedPullRequest } from './view.ts';

const Choice = Body({ enabled: Type.Optional(Type.Boolean()), autoMerge: Type.Optional(Type.Boolean()) });
type Asked = Static<typeof Choice>;

/** The change that the caller requests. `autoMerge` applies to the loop after `enabled`. */
function changeOf({ row, loop }: LoadedPullRequest, { enabled, autoMerge }: Asked): LoopChange {
  const switched =
    enabled === undefined ? {} : loopAfter(loop?.status ?? null, enabled ? 'enable' : 'switchOff');
  if (autoMerge === undefined) return switched;
  const unresolvedCount = row.scm_summary?.unresolvedCount ?? 0;
  return {
    ...switched,
    ...loopAfterChoice(loop && { ...loop, ...switched }, autoMerge, { unresolvedCount }),
  };
}

export const updateReviewLoop = write({
  name: 'pullRequests.updateReviewLoop',
  summary: 'Enable or disable the review loop of a pull request',
  description:
    'Enabling needs an open pull request and switches `autoPush` on. With `autoMerge` the loop merges by itself; setting it to true also needs `repo:update`.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: Choice,
  responses: { 200: Ok({ pullRequest: PullRequest }) },
  before: async (call) => requirePermissions(call, call.body.autoMerge === true ? ['repo:update'] : []),
  async handle(tx, call) {
    const { enabled } = call.body;
    const { thread, loaded } = await lockAsked(tx, call);
    if (enabled === true) {
      requireOpen(thread.thread, 'allowed');
      if (loaded.row.state !== 'open') throw notOpen();
      if (loaded.row.transferred_at !== null) throw isOthers();
    }
    const change = changeOf(loaded, call.body);
    const changed = await changePullRequest(tx, loaded, enabled === true ? { auto_push: true } : {}, change);
    if (changed.loop?.enabled) await enqueueSync(tx, changed.row);
    return {
      status: 200,
      body: { ok: true, pullRequest: pullRequestView(changed) },
      scope: scopeOf(thread.project),
    };
  },
});
