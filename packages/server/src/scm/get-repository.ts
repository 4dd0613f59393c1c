import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadRepository } from './policy.ts';
import { Repository } from './schemas.ts';
import { repositoryView } from './view.ts';

export const getRepository = read({
  name: 'scm.getRepository',
  summary: 'Read a repository',
  description:
    'The stored record. A key that is restricted to projects sees only the repositories of these projects.',
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  responses: { 200: Ok({ repository: Repository }) },
  async handle({ ctx, principal, params }) {
    const row = await loadRepository(ctx.db, principal, params.repositoryId!);
    return { status: 200, body: { ok: true, repository: repositoryView(ctx, row) } };
  },
});
