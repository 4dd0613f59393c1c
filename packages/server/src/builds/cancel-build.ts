import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread, lockThreadById } from '../threads/index.ts';
import { renewedDeadline } from '../workspaces/index.ts';
import { cancelOpenBuild, cancelThreadBuild } from './cancel-open-build.ts';
import { loadBuild } from './policy.ts';
import { Build } from './schemas.ts';
import { isEnded } from './state.ts';
import { lockBuild } from './store.ts';
import { buildView } from './view.ts';

export const cancelBuild = write({
  name: 'builds.cancelBuild',
  summary: 'Cancel a build',
  description:
    'A queued build fails as `cancelled` immediately, one that is building as soon as its sandbox is gone.',
  access: { permissions: ['thread:update'] },
  body: Body({}),
  responses: { 202: Ok({ build: Build }) },
  async handle(tx, call, receipt) {
    const { build, project } = await loadBuild(tx.db, call);
    const { thread_id: threadId } = build;
    if (threadId === null) await lockBuild(tx, build.id);
    const loaded = threadId === null ? undefined : await lockThreadById(tx, threadId);
    // Read again under the lock, which every end of a build takes. The build of a deleted thread is being
    // cancelled already.
    const { build: now } = await loadBuild(tx.db, call);
    if (isEnded(now)) throw new ApiError('build_not_active', 'The build has ended already.');
    receipt.publish(tx, scopeOf(project));
    if (threadId === null) await cancelOpenBuild(tx, project, build.id);
    if (loaded && (await cancelThreadBuild(tx, loaded)))
      await changeThread(
        tx,
        loaded,
        { active_build_id: null, ...(await renewedDeadline(call.ctx, tx.db, loaded.thread)) },
        'always',
      );
    return {
      status: 202,
      body: { ok: true, build: buildView((await loadBuild(tx.db, call)).build) },
      scope: scopeOf(project),
    };
  },
});
