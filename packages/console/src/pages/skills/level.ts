/** Whose skills a page shows and sets: an app's, or the organization's. */
import type { CallOptions, SetAppSkillInput, Skill, WriteOptions } from '@headrace/client';
import type { AppWord } from '../../api/app-word.ts';
import { client } from '../../api/client.ts';
import { organizationSkillsQuery, skillsQuery } from '../../api/queries.ts';

export interface Level {
  /** null: the organization's. */
  appId: string | null;
  /** What an app of this level is called. */
  word: AppWord;
  /** Of the reads that show what was written. */
  queryKey: readonly unknown[];
  /** From `/api`. */
  path: (name: string) => string;
  set: (name: string, body: SetAppSkillInput, options: WriteOptions) => PromiseLike<Skill>;
  remove: (name: string, options: WriteOptions) => PromiseLike<Skill>;
  archive: (name: string, options: CallOptions) => PromiseLike<Uint8Array>;
  /** The client's call: `method` of an app's skills, `set` or `delete`. */
  ts: (method: 'set' | 'delete', args: string) => string;
  /** The command line's options for it. */
  flags: string;
}

export const levelOfApp = (appId: string, word: AppWord): Level => ({
  appId,
  word,
  queryKey: skillsQuery(appId).queryKey,
  path: (name) => `/api/platform/v1/apps/${appId}/skills/${encodeURIComponent(name)}`,
  set: (name, body, options) => client.skills.set(appId, name, body, options),
  remove: (name, options) => client.skills.delete(appId, name, options),
  archive: (name, options) => client.skills.archive(appId, name, options),
  ts: (method, args) => `await client.skills.${method}('${appId}', ${args});`,
  flags: `--app ${appId}`,
});

export const ORGANIZATION: Level = {
  appId: null,
  word: 'app',
  queryKey: organizationSkillsQuery().queryKey,
  path: (name) => `/api/skills/${encodeURIComponent(name)}`,
  set: (name, body, options) => client.skills.setOrganization(name, body, options),
  remove: (name, options) => client.skills.deleteOrganization(name, options),
  archive: (name, options) => client.skills.organizationArchive(name, options),
  ts: (method, args) => `await client.skills.${method}Organization(${args});`,
  flags: '--organization',
};
