import type { Db } from '../db/database.ts';
import type { ProjectRow, SetupRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { loadProject } from '../projects/index.ts';
import { findProjectSetup } from './store.ts';

/** The setup and the app that the path names. 404 where the caller may not see either. */
export async function loadSetup(
  db: Db | Tx['db'],
  call: Pick<Call, 'principal' | 'api' | 'params'>,
): Promise<{ setup: SetupRow; project: ProjectRow }> {
  const project = await loadProject(db, call);
  const setup = await findProjectSetup(db, project.id, call.params.setupId!);
  if (!setup) throw notFound('setup');
  return { setup, project };
}
