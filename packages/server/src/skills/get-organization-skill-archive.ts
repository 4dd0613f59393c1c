import { levelOfOrganization } from '../environment/index.ts';
import { read } from '../http/operation.ts';
import { sendArchive } from './archive.ts';
import { loadSkill } from './policy.ts';
import { ARCHIVE } from './schemas.ts';

export const getOrganizationSkillArchive = read({
  name: 'skills.getOrganizationSkillArchive',
  summary: 'Download a skill of the organization as tar.gz',
  description: 'Byte-reproducible: equal `sha256`, equal bytes. The `ETag` is the `sha256`.',
  access: { session: 'admin' },
  responses: ARCHIVE,
  errors: [503],
  handle: async (call) =>
    sendArchive(call, await loadSkill(call.ctx.db, levelOfOrganization(call.principal), call.params.name!)),
});
