import Type from 'typebox';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { requireWorker } from '../processes/index.ts';
import { headNotInitialized, loadProject, scopeOf } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import { order, queueBuild, requirePath } from './queue-build.ts';
import { Build, MAX_WITHOUT_THREAD } from './schemas.ts';
import { countOpenWithoutThread } from './store.ts';
import { buildView } from './view.ts';

export const createAppBuild = write({
  name: 'builds.createAppBuild',
  summary: "Build an app's head, or any source of it",
  description:
    'As the build of a thread, but it needs no thread and blocks none. At most 100 of an app can be queued or building at a time (409).',
  access: { permissions: ['thread:update'] },
  body: Body({
    sourceId: Type.Optional(IdInput('src', 'Any source of the app; default: the head at this moment.')),
    ...order,
  }),
  responses: { 202: Ok({ build: Build }) },
  errors: [503],
  async handle(tx, call) {
    requirePath(call.body);
    // Locked: two that count at once would both be the last one, and a deletion cancels all there are.
    const project = await loadProject(tx.db, call, 'update');
    const sourceId = call.body.sourceId ?? project.head_source_id;
    if (sourceId === null) throw headNotInitialized();
    await loadSource(tx.db, project.id, sourceId);
    if ((await countOpenWithoutThread(tx, project.id)) >= MAX_WITHOUT_THREAD)
      throw new ApiError(
        'conflict',
        `At most ${MAX_WITHOUT_THREAD} builds of an app without a thread can be under way. Cancel one, or wait for its end.`,
      );
    await requireWorker(call.ctx, tx.db);
    const build = await queueBuild(tx, call, { project, threadId: null, sourceId });
    return { status: 202, body: { ok: true, build: buildView(build) }, scope: scopeOf(project) };
  },
});
