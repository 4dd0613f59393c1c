import { read } from '../http/operation.ts';
import { sourceFault } from '../sources/index.ts';
import { matchesEtag } from '../http/etag.ts';
import { loadBuild, requireReady } from './policy.ts';

export const getArtifact = read({
  name: 'builds.getArtifact',
  summary: "Download a ready build's output as tar.gz",
  description:
    'Paths are relative to the output directory; equal files give equal bytes. The `ETag` is `artifactSha256`. Check what you unpack against the manifest.',
  access: { permissions: ['thread:read'] },
  responses: {
    200: {
      content: { 'application/gzip': { schema: { type: 'string', contentMediaType: 'application/gzip' } } },
      description: 'A tar.gz of the files.',
    },
    304: { content: {}, description: 'Not modified: the caller has this artifact.' },
  },
  errors: [409, 503],
  async handle(call) {
    const { build } = await loadBuild(call.ctx.db, call);
    requireReady(build);
    const headers = { etag: `"${build.artifact_sha256!}"` };
    if (matchesEtag(call.headers['if-none-match'], headers.etag)) return { status: 304, stream: '', headers };
    const stream = await call.ctx.store.getStream(build.artifact_key!).catch((error: unknown) => {
      throw sourceFault(error);
    });
    return {
      status: 200,
      stream,
      headers: {
        ...headers,
        'content-type': 'application/gzip',
        'content-length': String(build.artifact_byte_size!),
        'content-disposition': `attachment; filename="${build.id}.tar.gz"`,
      },
    };
  },
});
