import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { appQuery, appSettingsQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { DeleteApp } from './delete-app.tsx';
import { Identity } from './identity.tsx';
import { SettingsForm } from './settings-form.tsx';

const route = getRouteApi('/signed-in/apps/$appId/settings');

/** What holds in one app. */
export function SettingsPage() {
  const { appId } = route.useParams();
  const app = useQuery(appQuery(appId));
  const settings = useQuery(appSettingsQuery(appId));
  const mayDelete = useMay('project:delete');
  const mayChange = useMay('project:update');
  return (
    <Page title="Settings">
      {!mayChange && (
        <p className="px-4 pb-3 text-ink-2">Your role may read these settings, not change them.</p>
      )}
      <Section title="App">
        <Shown query={app} skeleton={<Skeleton lines={3} />}>
          {(found) => <Identity key={found.id} app={found} mayChange={mayChange} />}
        </Shown>
      </Section>
      <Shown query={settings} skeleton={<Skeleton lines={12} />}>
        {(stored) => <SettingsForm key={appId} appId={appId} stored={stored} mayChange={mayChange} />}
      </Shown>
      {mayDelete && app.data && <DeleteApp app={app.data} />}
    </Page>
  );
}
