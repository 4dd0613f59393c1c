import type { Call } from '../http/operation.ts';
import { loadProject } from '../projects/index.ts';
import { loadSource } from './store.ts';
import type { SourceRow } from './store.ts';

/**
 * The source that the path names, of the project that it names: 404 where either is not for the caller to
 * see.
 */
export async function loadNamedSource(
  call: Pick<Call, 'ctx' | 'principal' | 'api' | 'params'>,
): Promise<SourceRow> {
  const project = await loadProject(call.ctx.db, call);
  return loadSource(call.ctx.db, project.id, call.params.sourceId!);
}
