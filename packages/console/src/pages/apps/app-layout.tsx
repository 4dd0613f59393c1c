import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet } from '@tanstack/react-router';
import { appQuery } from '../../api/queries.ts';
import { Page } from '../../ui/page.tsx';
import { PartsNav } from '../../ui/parts-nav.tsx';
import { Failure } from '../../ui/states.tsx';

const route = getRouteApi('/signed-in/apps/$appId');

/** The name of an app or a project and its parts, above each of its pages. What cannot be read has no pages. */
export function AppLayout() {
  const { appId } = route.useParams();
  const app = useQuery(appQuery(appId));
  if (app.error && !app.data)
    return (
      <Page title="App">
        <Failure error={app.error} retry={() => void app.refetch()} />
      </Page>
    );
  const params = { appId };
  // The head of a project with a repository is moved by its commits.
  const hasRepository = app.data?.repositoryId != null;
  return (
    <>
      <PartsNav
        label={app.data?.kind === 'direct' ? 'Project' : 'App'}
        name={app.data?.name ?? ' '}
        parts={[
          { text: 'Race', to: '/apps/$appId', params, exact: true },
          { text: 'Sources', to: '/apps/$appId/sources', params },
          ...(hasRepository ? [] : [{ text: 'Applies', to: '/apps/$appId/applies' as const, params }]),
          { text: 'Builds', to: '/apps/$appId/builds', params },
          { text: 'Previews', to: '/apps/$appId/previews', params },
          { text: 'Variables', to: '/apps/$appId/environment', params },
          { text: 'Settings', to: '/apps/$appId/settings', params },
        ]}
      />
      <Outlet />
    </>
  );
}
