/** The log of events: of all apps, or of everything else, narrowed as the address says. */
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../api/session.ts';
import { Page } from '../../ui/page.tsx';
import { typesOf } from './filter.ts';
import type { Change, EventSearch, Filter } from './filter.ts';
import { Filters } from './filters.tsx';
import { LogView } from './log-view.tsx';

const route = getRouteApi('/signed-in/events');

export function EventsPage() {
  const search: EventSearch = route.useSearch();
  const navigate = route.useNavigate();
  const { platformApi } = useSession().entitlements;
  const { appId, threadId, runId, types, event, paused = false } = search;
  const isDirect = search.feed === 'direct' || !platformApi;
  const filter = useMemo(
    (): Filter => ({ isDirect, appId, threadId, runId, types: typesOf(types) }),
    [isDirect, appId, threadId, runId, types],
  );
  /** Another filter is another list: what was open is closed. */
  const narrow = (change: Change) => {
    void navigate({ search: kept({ ...search, event: undefined, ...change }) });
  };
  return (
    <Page title="Events">
      <Filters
        filter={filter}
        hasApps={platformApi}
        onChange={narrow}
        onFindEvent={(id) => void navigate({ search: kept({ ...search, event: id }) })}
      />
      <LogView
        key={JSON.stringify(filter)}
        filter={filter}
        opened={event}
        isPaused={paused}
        onOpen={(id) => void navigate({ search: kept({ ...search, event: id }), replace: true })}
        onPause={(isPaused) =>
          void navigate({ search: kept({ ...search, paused: isPaused }), replace: true })
        }
        onClear={() => void navigate({ search: kept({ feed: search.feed, paused }) })}
      />
    </Page>
  );
}

function kept(search: Change): EventSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== '' && value !== false),
  );
}
