import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { appQuery } from '../../api/queries.ts';
import { Page } from '../../ui/page.tsx';
import { Failure } from '../../ui/states.tsx';

const route = getRouteApi('/signed-in/apps/$appId');

const PARTS = [
  ['Race', '/apps/$appId', true],
  ['Sources', '/apps/$appId/sources', false],
  ['Applies', '/apps/$appId/applies', false],
  ['Builds', '/apps/$appId/builds', false],
  ['Previews', '/apps/$appId/previews', false],
  ['Variables', '/apps/$appId/environment', false],
  ['Settings', '/apps/$appId/settings', false],
] as const;

/** The app's name and its parts, above each of its pages. An app that cannot be read has no pages. */
export function AppLayout() {
  const { appId } = route.useParams();
  const app = useQuery(appQuery(appId));
  if (app.error && !app.data)
    return (
      <Page title="App">
        <Failure error={app.error} retry={() => void app.refetch()} />
      </Page>
    );
  return (
    <>
      <nav
        aria-label="App"
        className="flex flex-wrap items-stretch border-b border-line px-3 sm:flex-nowrap sm:gap-x-1 sm:px-4 sm:overflow-x-auto"
      >
        <span className="w-full truncate px-1 pt-2 font-bold sm:w-auto sm:pr-3 sm:pl-0 sm:max-w-48 sm:min-w-16 sm:py-2">
          {app.data?.name ?? ' '}
        </span>
        {PARTS.map(([name, to, exact]) => (
          <Link
            key={to}
            to={to}
            params={{ appId }}
            activeOptions={{ exact, includeSearch: false }}
            className="flex items-center border-b-2 border-transparent px-1 py-2 whitespace-nowrap text-ink-2 hover:text-ink sm:px-2"
            activeProps={{
              className:
                'flex items-center border-b-2 border-water px-1 py-2 whitespace-nowrap text-ink sm:px-2',
              'aria-current': 'page',
            }}
          >
            {name}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}
