import type { Db } from '../db/database.ts';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { loadProject } from '../projects/index.ts';
import { findProjectBuild } from './store.ts';
import type { Build } from './store.ts';

/**
 * The build and the app that the path names; a build outlives its thread. 404 where the caller may not see
 * either.
 */
export async function loadBuild(
  db: Db | Tx['db'],
  call: Pick<Call, 'principal' | 'api' | 'params'>,
): Promise<{ build: Build; project: ProjectRow }> {
  const project = await loadProject(db, call);
  const build = await findProjectBuild(db, project.id, call.params.buildId!);
  if (!build) throw notFound('build');
  return { build, project };
}

/** Throws 409 `build_not_ready`. */
export function requireReady(build: Build): void {
  if (build.status !== 'ready')
    throw new ApiError(
      'build_not_ready',
      'Only a build that is ready has an artifact and a manifest. Read its status, error and logs.',
    );
}
