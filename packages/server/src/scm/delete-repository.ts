import { sql } from 'kysely';
import { audit } from '../audit/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { requireHosted } from './open-repository.ts';
import { loadRepository } from './policy.ts';
import { Repository } from './schemas.ts';
import { saveRepository } from './store.ts';
import { repositoryView } from './view.ts';

export const deleteRepository = write({
  name: 'scm.deleteRepository',
  summary: 'Delete a repository that this service hosts',
  description:
    'Deletes all its commits and frees its name. 409 `repository_in_use` while a project is bound to it.',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  responses: { 200: Ok({ repository: Repository }) },
  async handle(tx, call) {
    const { ctx, principal, params } = call;
    const row = await loadRepository(tx.db, principal, params.repositoryId!, 'update');
    requireHosted(row);
    const bound = await tx.db
      .selectFrom('projects')
      .select('id')
      .where('repository_id', '=', row.id)
      .where('deleted_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (bound)
      throw new ApiError(
        'repository_in_use',
        'A project is bound to the repository. Delete the project first.',
      );
    await saveRepository(tx, row.id, { deleted_at: sql<Date>`now()` });
    await audit(tx, call, 'repository.deleted', row.id);
    return { status: 200, body: { ok: true, repository: repositoryView(ctx, row) } };
  },
});
