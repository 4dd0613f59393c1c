import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadBuild, requireReady } from './policy.ts';
import { Manifest } from './schemas.ts';
import { findManifest } from './store.ts';

export const getManifest = read({
  name: 'builds.getManifest',
  summary: 'List the files of a ready build with their hashes and sizes',
  access: { permissions: ['thread:read'] },
  responses: { 200: Ok({ manifest: Manifest }) },
  errors: [409],
  async handle(call) {
    const { build } = await loadBuild(call.ctx.db, call);
    requireReady(build);
    return {
      status: 200,
      body: {
        ok: true,
        manifest: {
          buildId: build.id,
          sourceId: build.source_id,
          artifactSha256: build.artifact_sha256,
          fileCount: build.file_count,
          byteSize: build.output_byte_size,
          files: await findManifest(call.ctx.db, build.id),
        },
      },
    };
  },
});
