import { matchesEtag } from '../http/etag.ts';
import type { Call, Reply } from '../http/operation.ts';
import type { SkillRow } from '../db/schema.ts';
import { sourceFault } from '../sources/index.ts';

/** Answers with the skill's archive. Throws 503 `source_storage_unavailable` where the store is away. */
export async function sendArchive({ ctx, headers: asked }: Call, skill: SkillRow): Promise<Reply> {
  const headers = { etag: `"${skill.sha256}"` };
  if (matchesEtag(asked['if-none-match'], headers.etag)) return { status: 304, stream: '', headers };
  const stream = await ctx.store.getStream(skill.archive_key).catch((error: unknown) => {
    throw sourceFault(error);
  });
  return {
    status: 200,
    stream,
    headers: {
      ...headers,
      'content-type': 'application/gzip',
      'content-length': String(skill.archive_byte_size),
      'content-disposition': `attachment; filename="${skill.name}.tar.gz"`,
    },
  };
}
