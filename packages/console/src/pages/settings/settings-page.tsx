import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { capital, useAppWord } from '../../api/app-word.ts';
import { appQuery, appSettingsQuery, externalIdQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { DeleteApp } from './delete-app.tsx';
import { Identity } from './identity.tsx';
import { levelOfApp } from './level.ts';
import { SettingsForm } from './settings-form.tsx';

const route = getRouteApi('/signed-in/apps/$appId/settings');

/** What holds in one app or project. */
export function SettingsPage() {
  const { appId } = route.useParams();
  const app = useQuery(appQuery(appId));
  const settings = useQuery(appSettingsQuery(appId));
  const isApp = app.data?.kind === 'platform';
  const external = useQuery({ ...externalIdQuery(appId), enabled: isApp });
  const word = useAppWord();
  const mayDelete = useMay('project:delete');
  const mayChange = useMay('project:update');
  return (
    <Page title="Settings">
      {!mayChange && (
        <p className="px-4 pb-3 text-ink-2">Your role may read these settings, not change them.</p>
      )}
      <Section title={capital(word)}>
        {isApp ? (
          <Shown query={external} skeleton={<Skeleton lines={3} />}>
            {(found) => <Identity key={found.id} app={found} word="app" mayChange={mayChange} />}
          </Shown>
        ) : (
          <Shown query={app} skeleton={<Skeleton lines={3} />}>
            {(found) => <Identity key={found.id} app={found} word="project" mayChange={mayChange} />}
          </Shown>
        )}
      </Section>
      <Shown query={settings} skeleton={<Skeleton lines={12} />}>
        {(stored) => (
          <SettingsForm key={appId} level={levelOfApp(appId, word)} stored={stored} mayChange={mayChange} />
        )}
      </Shown>
      {mayDelete && app.data && <DeleteApp app={app.data} />}
    </Page>
  );
}
