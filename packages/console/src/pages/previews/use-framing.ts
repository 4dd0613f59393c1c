import type { Settings } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { appSettingsQuery, organizationSettingsQuery } from '../../api/queries.ts';
import { useWrite } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import { ancestorsOf, mayFrame } from './framing.ts';

export interface Framing {
  /** `unknown`: the settings cannot be read; the browser decides. `open`: the preview itself decides. */
  state: 'loading' | 'unknown' | 'open' | 'allowed' | 'forbidden';
  /** The list as it would be with this console in it. */
  wanted: string[];
  allow: Write<string[], Settings>;
}

/** Whether this console may show the app's previews in a frame, and the way to let it. */
export function useFraming(appId: string): Framing {
  const queries = useQueryClient();
  const app = useQuery(appSettingsQuery(appId));
  const organization = useQuery({ ...organizationSettingsQuery(), enabled: app.data?.preview === null });
  const allow = useWrite({
    intent: `frame ${appId}`,
    call: (frameAncestors: string[], options) =>
      client.settings.update(appId, { preview: { frameAncestors } }, options),
    onDone: (settings) => queries.setQueryData(appSettingsQuery(appId).queryKey, settings),
  });
  const isLoading = app.isPending || (app.data?.preview === null && organization.isPending);
  const list = app.data ? ancestorsOf(app.data, organization.data) : null;
  const { origin } = location;
  const state = isLoading
    ? 'loading'
    : !app.data
      ? 'unknown'
      : list === null
        ? 'open'
        : mayFrame(list, origin)
          ? 'allowed'
          : 'forbidden';
  return { state, wanted: [...(list ?? []), origin], allow };
}
