import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import type { Entry, Tree } from '../trees/tree.ts';
import { loadNamedSource } from './policy.ts';
import { SourceFile } from './schemas.ts';
import { loadTree } from './load-tree.ts';

interface Place {
  /** In the whole tree: a cursor of the place is short where one of the path could be 4 KiB. */
  index: number;
  path: string;
  entry: Entry;
}

function filesBehind(tree: Tree, prefix: string, after: number, limit: number): Place[] {
  const found: Place[] = [];
  let index = -1;
  for (const [path, entry] of tree) {
    if (++index <= after || !path.startsWith(prefix)) continue;
    if (found.push({ index, path, entry }) === limit) break;
  }
  return found;
}

export const listFiles = read({
  name: 'sources.listFiles',
  summary: 'List the files of a source, by path bytes',
  access: { permissions: ['project:read'] },
  query: ListQuery({
    prefix: Type.Optional(
      Type.String({
        maxLength: 1024,
        examples: ['src/'],
        description: 'Only paths that begin with just this text.',
      }),
    ),
  }),
  responses: { 200: Page('files', SourceFile) },
  async handle(call) {
    const { ctx, query } = call;
    const source = await loadNamedSource(call);
    const tree = await loadTree(ctx, source.id);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['files', source.id, query.prefix ?? ''] },
      async (after, limit) => filesBehind(tree, query.prefix ?? '', Number(after ?? -1), limit),
      (p) => String(p.index),
    );
    const files = rows.map(({ path, entry }) => ({
      path,
      byteSize: entry.byteSize,
      sha256: entry.sha256,
      executable: entry.executable,
    }));
    return { status: 200, body: { ok: true, files, ...rest } };
  },
});
