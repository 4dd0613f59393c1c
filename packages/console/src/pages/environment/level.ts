/** Whose variables a page shows and sets: an app's, or the organization's. */
import type { SetAppVariableInput, Variable, WriteOptions } from '@headrace/client';
import type { AppWord } from '../../api/app-word.ts';
import { client } from '../../api/client.ts';
import { organizationVariablesQuery, variablesQuery } from '../../api/queries.ts';

export interface Level {
  /** null: the organization's. */
  appId: string | null;
  /** What an app of this level is called. */
  word: AppWord;
  /** In a sentence: "this app", "the organization". */
  name: string;
  /** Of the reads that show what was written. */
  queryKey: readonly unknown[];
  /** From `/api`. */
  path: (name: string) => string;
  set: (name: string, body: SetAppVariableInput, options: WriteOptions) => PromiseLike<Variable>;
  remove: (name: string, options: WriteOptions) => PromiseLike<Variable>;
  /** The client's call: `method` of an app's variables, `set` or `delete`. */
  ts: (method: 'set' | 'delete', args: string) => string;
  /** The command line's options for it. */
  flags: string;
}

export const levelOfApp = (appId: string, word: AppWord): Level => ({
  appId,
  word,
  name: `this ${word}`,
  queryKey: variablesQuery(appId).queryKey,
  path: (name) => `/api/platform/v1/apps/${appId}/environment/${encodeURIComponent(name)}`,
  set: (name, body, options) => client.environment.set(appId, name, body, options),
  remove: (name, options) => client.environment.delete(appId, name, options),
  ts: (method, args) => `await client.environment.${method}('${appId}', ${args});`,
  flags: `--app ${appId}`,
});

export const ORGANIZATION: Level = {
  appId: null,
  word: 'app',
  name: 'the organization',
  queryKey: organizationVariablesQuery().queryKey,
  path: (name) => `/api/environment/${encodeURIComponent(name)}`,
  set: (name, body, options) => client.environment.setOrganization(name, body, options),
  remove: (name, options) => client.environment.deleteOrganization(name, options),
  ts: (method, args) => `await client.environment.${method}Organization(${args});`,
  flags: '--organization',
};
