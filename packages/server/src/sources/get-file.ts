import { isUtf8 } from 'node:buffer';
import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { readBlob } from './contents.ts';
import { matchesEtag } from '../http/etag.ts';
import { loadNamedSource } from './policy.ts';
import { SourceFileContent } from './schemas.ts';
import { loadTree } from './load-tree.ts';

export const getFile = read({
  name: 'sources.getFile',
  summary: 'Read one file of a source',
  description:
    'The `ETag` changes with the content and the mode: send it as `If-None-Match` to get 304 for an unchanged file, in any source.',
  access: { permissions: ['project:read'] },
  query: Body({ path: Text('src/index.ts', { minLength: 1, maxLength: 1024 }) }),
  responses: {
    200: Ok({ file: SourceFileContent }),
    304: { content: {}, description: 'Not modified: the caller has this file.' },
  },
  async handle(call) {
    const {
      ctx,
      query: { path },
    } = call;
    const source = await loadNamedSource(call);
    const entry = (await loadTree(ctx, source.id)).get(path);
    if (!entry) throw notFound('file');
    const { sha256, byteSize, executable } = entry;
    const headers = { etag: `"${sha256}${executable ? '-x' : ''}"` };
    if (matchesEtag(call.headers['if-none-match'], headers.etag)) return { status: 304, stream: '', headers };
    const bytes = await readBlob(ctx, source.project_id, sha256);
    const encoding = isUtf8(bytes) ? ('utf8' as const) : ('base64' as const);
    return {
      status: 200,
      body: {
        ok: true,
        file: { path, byteSize, sha256, executable, encoding, content: bytes.toString(encoding) },
      },
      headers,
    };
  },
});
