import Type from 'typebox';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { requireWorker } from '../processes/index.ts';
import { scopeOf } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import { changeThread, lockThread, requireIdle, requireOpen } from '../threads/index.ts';
import { order, queueBuild, requirePath } from './queue-build.ts';
import { Build } from './schemas.ts';
import { buildView } from './view.ts';

export const createBuild = write({
  name: 'builds.createBuild',
  summary: 'Build a source',
  description:
    'Runs the command in a scratch sandbox that contains exactly the source, and keeps the files in the output directory: at most 10,000 regular files, 64 MiB in total. The thread has to be idle, and takes no other work until the build has ended.',
  access: { permissions: ['thread:update'] },
  body: Body({
    sourceId: Type.Optional(IdInput('src', "Any source of the app; default: the thread's latest.")),
    ...order,
  }),
  responses: { 202: Ok({ build: Build }) },
  errors: [503],
  async handle(tx, call) {
    requirePath(call.body);
    const loaded = await lockThread(tx, call);
    const { thread, project } = loaded;
    const sourceId = call.body.sourceId ?? thread.latest_source_id;
    if (sourceId !== null) await loadSource(tx.db, project.id, sourceId);
    requireOpen(thread, 'allowed');
    await requireIdle(tx, thread);
    if (sourceId === null)
      throw new ApiError('conflict', 'The thread has no source yet. Name one, or wait for its first run.');
    await requireWorker(call.ctx, tx.db);
    const build = await queueBuild(tx, call, { project, threadId: thread.id, sourceId });
    await changeThread(tx, loaded, { active_build_id: build.id }, 'always');
    return { status: 202, body: { ok: true, build: buildView(build) }, scope: scopeOf(project) };
  },
});
