/** Whose settings a form is of: an app's, a project's, or the organization's. */
import type { Settings, UpdateAppSettingsInput, WriteOptions } from '@headrace/client';
import type { AppWord } from '../../api/app-word.ts';
import { client } from '../../api/client.ts';
import { appSettingsQuery, organizationSettingsQuery } from '../../api/queries.ts';

export type Whose = AppWord | 'organization';

export interface Level {
  of: Whose;
  /** null: the organization's. */
  appId: string | null;
  /** For what is typed, and for keys of writes. */
  name: string;
  queryKey: readonly unknown[];
  /** From `/api`. */
  path: string;
  update: (changes: UpdateAppSettingsInput, options: WriteOptions) => PromiseLike<Settings>;
  /** The client's call. */
  ts: (changes: UpdateAppSettingsInput) => string;
  /** The command line's options for it. */
  flags: string;
}

export const levelOfApp = (appId: string, of: AppWord): Level => ({
  of,
  appId,
  name: appId,
  queryKey: appSettingsQuery(appId).queryKey,
  path: `/api/platform/v1/apps/${appId}/settings`,
  update: (changes, options) => client.settings.update(appId, changes, options),
  ts: (changes) => `await client.settings.update('${appId}', ${JSON.stringify(changes, null, 2)});`,
  flags: `--app ${appId}`,
});

export const ORGANIZATION: Level = {
  of: 'organization',
  appId: null,
  name: 'the organization',
  queryKey: organizationSettingsQuery().queryKey,
  path: '/api/settings',
  update: (changes, options) => client.settings.updateOrganization(changes, options),
  ts: (changes) => `await client.settings.updateOrganization(${JSON.stringify(changes, null, 2)});`,
  flags: '--organization',
};
