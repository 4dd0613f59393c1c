import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Nullable, Page, Text } from '../http/schemas.ts';
import { isAvailable } from './runtimes.ts';

const Runtime = Type.Object({
  name: Text('debian-12', { description: 'For the setting `runtime`.' }),
  description: Nullable(Text('Debian 12 with Python 3.11')),
  isDefault: Type.Boolean({ description: "Whether the organization's setting names it.", examples: [false] }),
  available: Type.Boolean({ description: 'Whether sandboxes can have it now.', examples: [true] }),
});

export const listRuntimes = read({
  name: 'settings.listRuntimes',
  summary: 'List the runtimes that sandboxes may have',
  description: "The operator's systems for sandboxes, by name. Without one, sandboxes have the host's own.",
  access: { permissions: ['project:read'] },
  query: ListQuery(),
  responses: { 200: Page('runtimes', Runtime) },
  async handle({ ctx, principal, query }) {
    const { settings } = await ctx.db
      .selectFrom('organizations')
      .select('settings')
      .where('id', '=', principal.orgId)
      .executeTakeFirstOrThrow();
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['runtimes', principal.orgId] },
      (after, limit) =>
        Promise.resolve(
          ctx.config.runtimes.filter(({ name }) => after === null || name > after).slice(0, limit),
        ),
      ({ name }) => name,
    );
    const runtimes = rows.map((runtime) => ({
      name: runtime.name,
      description: runtime.description,
      isDefault: settings.runtime === runtime.name,
      available: isAvailable(ctx, runtime),
    }));
    return { status: 200, body: { ok: true, runtimes, ...rest } };
  },
});
