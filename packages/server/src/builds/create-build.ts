import Type from 'typebox';
import { appendEvent } from '../db/transaction.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { requireWorker } from '../processes/index.ts';
import { scopeOf } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import { checkPath } from '../trees/paths.ts';
import { changeThread, lockThread, requireIdle, requireOpen } from '../threads/index.ts';
import { buildKey } from './reconcile.ts';
import { Build, Command, MAX_TIMEOUT_SECONDS, OutputDirectory } from './schemas.ts';
import { insertBuild } from './store.ts';
import { buildEventData, buildView } from './view.ts';

function requirePath(outputDirectory: string): void {
  const fault = outputDirectory === '.' ? null : checkPath(outputDirectory);
  if (fault !== null) throw invalid({ path: '/outputDirectory', message: fault });
}

export const createBuild = write({
  name: 'builds.createBuild',
  summary: 'Build a source',
  description:
    'Runs the command in a scratch sandbox that contains exactly the source, and keeps the files in the output directory: at most 10,000 regular files, 64 MiB in total. The thread has to be idle, and takes no other work until the build has ended.',
  access: { permissions: ['thread:update'] },
  body: Body({
    sourceId: Type.Optional(IdInput('src', "Any source of the app; default: the thread's latest.")),
    command: Command,
    outputDirectory: OutputDirectory,
    timeoutSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_TIMEOUT_SECONDS, default: MAX_TIMEOUT_SECONDS }),
    ),
  }),
  responses: { 202: Ok({ build: Build }) },
  errors: [503],
  async handle(tx, call) {
    const { command, outputDirectory, timeoutSeconds = MAX_TIMEOUT_SECONDS } = call.body;
    requirePath(outputDirectory);
    const loaded = await lockThread(tx, call);
    const { thread, project } = loaded;
    const sourceId = call.body.sourceId ?? thread.latest_source_id;
    if (sourceId !== null) await loadSource(tx.db, project.id, sourceId);
    requireOpen(thread, 'allowed');
    await requireIdle(tx, thread);
    if (sourceId === null)
      throw new ApiError('conflict', 'The thread has no source yet. Name one, or wait for its first run.');
    await requireWorker(call.ctx, tx.db);
    const build = await insertBuild(tx, {
      org_id: thread.org_id,
      id: newId('bld'),
      project_id: project.id,
      thread_id: thread.id,
      listed: project.kind === 'platform',
      source_id: sourceId,
      command,
      output_directory: outputDirectory,
      timeout_seconds: timeoutSeconds,
      created_by: call.principal.actorId,
    });
    appendEvent(
      tx,
      { ...scopeOf(project), threadId: thread.id },
      'platform.build.queued',
      buildEventData(build),
    );
    await changeThread(tx, loaded, { active_build_id: build.id }, 'always');
    await enqueue(tx, 'build.work', { buildId: build.id }, { key: buildKey(build.id), turnOf: build });
    return { status: 202, body: { ok: true, build: buildView(build) }, scope: scopeOf(project) };
  },
});
