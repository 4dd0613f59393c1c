import { ApiError, notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { moveHead } from './move-head.ts';
import { loadProject, requireUnbound, scopeOf } from './policy.ts';
import { Head } from './schemas.ts';
import { headView } from './view.ts';

export const initializeHead = write({
  name: 'projects.initializeHead',
  summary: 'Initialize the head, once',
  description:
    "Any source of the app may become the first head, revision 1. Later drafts start from a source in the head's history.",
  access: { permissions: ['project:update'] },
  body: Body({ sourceId: IdInput('src') }),
  responses: { 201: Ok({ head: Head }) },
  async handle(tx, call) {
    const project = await loadProject(tx.db, call, 'update');
    requireUnbound(project);
    const source = await tx.db
      .selectFrom('sources')
      .select('id')
      .where('project_id', '=', project.id)
      .where('id', '=', call.body.sourceId)
      .executeTakeFirst();
    if (!source) throw notFound('source');
    if (project.head_source_id !== null)
      throw new ApiError(
        'head_already_initialized',
        'The head was initialized before. It moves by applies only.',
      );
    const moved = await moveHead(tx, project, source.id, null);
    return { status: 201, body: { ok: true, head: headView(moved) }, scope: scopeOf(moved) };
  },
});
