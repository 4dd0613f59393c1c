import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page, Text } from '../http/schemas.ts';
import { scmFault } from './faults.ts';
import { openNamed } from './open-repository.ts';
import { Branch } from './schemas.ts';

export const listBranches = read({
  name: 'scm.listBranches',
  summary: "List a repository's branches, in the order of their names",
  description: 'Read from the source control host at each call.',
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  query: ListQuery({
    query: Type.Optional(
      Text('feature/', {
        minLength: 1,
        maxLength: 255,
        description: 'Only branches whose names start with this.',
      }),
    ),
  }),
  responses: { 200: Page('branches', Branch) },
  async handle(call) {
    const { ctx, query } = call;
    const { provider, at } = await openNamed(call);
    const prefix = query.query ?? '';
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['branches', at.repository.id, prefix] },
      (after, limit) =>
        provider.listBranches(at, { prefix, after, limit }).catch((error: unknown) => {
          throw scmFault(error);
        }),
      ({ name }) => name,
    );
    return { status: 200, body: { ok: true, branches: rows, ...rest } };
  },
});
