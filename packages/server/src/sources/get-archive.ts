import { read } from '../http/operation.ts';
import { archiveOf, readBlob } from './contents.ts';
import { matchesEtag } from '../http/etag.ts';
import { loadNamedSource } from './policy.ts';
import { loadTree } from './load-tree.ts';

export const getArchive = read({
  name: 'sources.getArchive',
  summary: 'Download a source as tar.gz',
  description:
    "Byte-reproducible: equal `sha256`, equal bytes. Modes are 0644 and 0755. The `ETag` is the source's `sha256`.",
  access: { permissions: ['project:read'] },
  responses: {
    200: {
      content: { 'application/gzip': { schema: { type: 'string', contentMediaType: 'application/gzip' } } },
      description: 'A tar.gz of the files.',
    },
    304: { content: {}, description: 'Not modified: the caller has this archive.' },
  },
  async handle(call) {
    const { ctx } = call;
    const source = await loadNamedSource(call);
    const headers = { etag: `"${source.sha256}"` };
    if (matchesEtag(call.headers['if-none-match'], headers.etag)) return { status: 304, stream: '', headers };
    const tree = await loadTree(ctx, source.id);
    // Once the stream has begun, no status can say that the store is away.
    for (const { sha256 } of tree.values()) {
      await readBlob(ctx, source.project_id, sha256);
      break;
    }
    return {
      status: 200,
      stream: archiveOf(ctx, source.project_id, tree),
      headers: {
        ...headers,
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="${source.id}.tar.gz"`,
      },
    };
  },
});
