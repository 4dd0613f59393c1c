import { levelOfApp } from '../environment/index.ts';
import { read } from '../http/operation.ts';
import { sendArchive } from './archive.ts';
import { loadSkill } from './policy.ts';
import { ARCHIVE } from './schemas.ts';

export const getAppSkillArchive = read({
  name: 'skills.getAppSkillArchive',
  summary: 'Download a skill of an app as tar.gz',
  description: 'Byte-reproducible: equal `sha256`, equal bytes. The `ETag` is the `sha256`.',
  access: { permissions: ['project:read'] },
  responses: ARCHIVE,
  errors: [503],
  handle: async (call) =>
    sendArchive(call, await loadSkill(call.ctx.db, await levelOfApp(call.ctx.db, call), call.params.name!)),
});
