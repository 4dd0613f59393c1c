import Type from 'typebox';
import type { Static } from 'typebox';
import type { ProjectRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { invalid } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { scopeOf } from '../projects/index.ts';
import { checkPath } from '../trees/paths.ts';
import { buildKey } from './reconcile.ts';
import { Command, MAX_TIMEOUT_SECONDS, OutputDirectory } from './schemas.ts';
import { insertBuild } from './store.ts';
import type { Build } from './store.ts';
import { buildEventData } from './view.ts';

/** What every order of a build has beside its source. */
export const order = {
  command: Command,
  outputDirectory: OutputDirectory,
  timeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_TIMEOUT_SECONDS, default: MAX_TIMEOUT_SECONDS }),
  ),
  setup: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Have the layer of the app's setup below the source, and wait for it.",
    }),
  ),
};
const Order = Type.Object(order);

/** Throws 400 for an output directory that is no path in a source. */
export function requirePath({ outputDirectory }: Static<typeof Order>): void {
  const fault = outputDirectory === '.' ? null : checkPath(outputDirectory);
  if (fault !== null) throw invalid({ path: '/outputDirectory', message: fault });
}

interface Of {
  project: ProjectRow;
  threadId: string | null;
  sourceId: string;
}

/** Stores an accepted build, publishes it, and enqueues its job. */
export async function queueBuild(
  tx: Tx,
  { body, principal }: Call<unknown, Static<typeof Order>>,
  { project, threadId, sourceId }: Of,
): Promise<Build> {
  const build = await insertBuild(tx, {
    org_id: project.org_id,
    id: newId('bld'),
    project_id: project.id,
    thread_id: threadId,
    listed: project.kind === 'platform',
    source_id: sourceId,
    command: body.command,
    output_directory: body.outputDirectory,
    timeout_seconds: body.timeoutSeconds ?? MAX_TIMEOUT_SECONDS,
    setup: body.setup ?? false,
    created_by: principal.actorId,
  });
  appendEvent(tx, { ...scopeOf(project), threadId }, 'platform.build.queued', buildEventData(build));
  await enqueue(tx, 'build.work', { buildId: build.id }, { key: buildKey(build.id), turnOf: build });
  return build;
}
