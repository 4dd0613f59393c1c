import Type from 'typebox';
import { read } from '../http/operation.ts';
import { Body, Id, Ok, Text } from '../http/schemas.ts';
import { readBlobs } from './contents.ts';
import { faultsMapped } from './faults.ts';
import { loadNamedSource } from './policy.ts';
import { DiffFile, SourceIdInput } from './schemas.ts';
import { loadSource } from './store.ts';
import { loadTree } from './load-tree.ts';

/** As many as fit into a URL. */
const MAX_PATHS = 50;

export const getDiff = read({
  name: 'sources.getDiff',
  summary: 'Compare a source with another one',
  description:
    'What changed from `base` to this source, as git reports it: renames from 50% similarity on, copies as additions. Patches stop at 8 MiB in total.',
  access: { permissions: ['project:read'] },
  query: Body({
    base: SourceIdInput,
    patches: Type.Optional(
      Type.Boolean({ description: 'false: the files without `patch`, which is less work.' }),
    ),
    path: Type.Optional(
      Type.Array(Text('src/index.ts', { minLength: 1, maxLength: 1024 }), {
        minItems: 1,
        maxItems: MAX_PATHS,
        description:
          'Only these files; repeat the parameter for several. Either name of a renamed file selects it. Paths without a difference are ignored.',
      }),
    ),
  }),
  responses: {
    200: Ok({
      diff: Type.Object({ baseSourceId: Id('src'), sourceId: Id('src'), files: Type.Array(DiffFile) }),
    }),
  },
  async handle(call) {
    const { ctx } = call;
    const { base: baseId, path: paths, patches } = call.query;
    const source = await loadNamedSource(call);
    const base = await loadSource(ctx.db, source.project_id, baseId);
    const refOf = (id: string) => ({ id, load: () => loadTree(ctx, id) });
    const files = await faultsMapped(
      ctx.merger.diff({
        from: refOf(base.id),
        to: refOf(source.id),
        readBlobs: (sha256s) => readBlobs(ctx, source.project_id, sha256s),
        paths,
        patches,
      }),
    );
    return { status: 200, body: { ok: true, diff: { baseSourceId: base.id, sourceId: source.id, files } } };
  },
});
