import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { App } from '@headrace/client';
import { useState } from 'react';
import { allThreadsQuery, appsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Find } from '../../ui/find.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Time } from '../../ui/values.tsx';
import { CreateApp } from './create-app.tsx';
import { WorkOf } from './work-of.tsx';
import { workByApp } from './work.ts';

const route = getRouteApi('/signed-in/apps');

/** Every app, newest first. */
export function AppsPage() {
  const { query = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const mayCreate = useMay('project:create');
  const apps = useInfiniteQuery({ ...appsQuery(query), placeholderData: keepPreviousData });
  const create = () => setCreating(true);
  return (
    <Page
      title="Apps"
      actions={
        <>
          <Find
            label="Find apps by name"
            placeholder="Find by name"
            value={query}
            onChange={(next) =>
              void navigate({ search: next ? { query: next } : {}, replace: true, resetScroll: false })
            }
          />
          {mayCreate && (
            <Button kind="primary" onPress={create}>
              Create an app
            </Button>
          )}
        </>
      }
    >
      <Shown query={apps}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length === 0) return query ? <NotFound query={query} /> : <FirstRun onCreate={create} />;
          return (
            <>
              <List apps={items} />
              <ShowMore list={apps} />
            </>
          );
        }}
      </Shown>
      <CreateApp isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function List({ apps }: { apps: App[] }) {
  const threads = useInfiniteQuery(allThreadsQuery({ status: 'running,waiting,queued' }));
  const work = workByApp(itemsOf(threads.data));
  const isMore = threads.hasNextPage;
  const hasExternalIds = apps.some(({ externalId }) => externalId !== null);
  return (
    <ul aria-label="Apps" className="border-t border-line">
      {apps.map((app) => (
        <li key={app.id}>
          <Link
            to="/apps/$appId"
            params={{ appId: app.id }}
            data-row
            className="row flex-wrap gap-y-0 md:flex-nowrap"
          >
            <span className="min-w-0 flex-1 truncate font-bold">
              <Plain text={app.name} />
            </span>
            <span className="text-ink-3 md:order-1 md:w-28 md:text-right">
              <Time at={app.updatedAt} />
            </span>
            {/* On a phone, the rest stands below. */}
            <span className="basis-full md:hidden" />
            <WorkOf work={work.get(app.id)} isMore={isMore} />
            <span className="text-ink-3 tabular-nums md:w-24">
              {app.headRevision === null ? 'no files yet' : `revision ${app.headRevision}`}
            </span>
            {hasExternalIds && (
              <span className="hidden w-44 truncate font-mono text-mono text-ink-3 lg:block">
                {app.externalId !== null && <Plain text={app.externalId} />}
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function NotFound({ query }: { query: string }) {
  return (
    <Empty title="No app has this name">
      <p className="long">
        Nothing contains “<Plain text={query} />
        ”.
      </p>
      <Link to="/apps" className="link">
        Show all apps
      </Link>
    </Empty>
  );
}

function FirstRun({ onCreate }: { onCreate: () => void }) {
  const mayCreate = useMay('project:create');
  return (
    <Empty title="No apps yet">
      <p>An app is a folder of files, and the threads that change it. Three steps to the first one:</p>
      <ol className="flex list-decimal flex-col gap-1 pl-5">
        <li>Create an app.</li>
        <li>Drop its folder on it: the files become its head.</li>
        <li>Start a thread, say what to change, and apply what comes of it.</li>
      </ol>
      {mayCreate ? (
        <Button kind="primary" onPress={onCreate}>
          Create the first app
        </Button>
      ) : (
        <p>Your role may not create apps. Ask an owner or admin for one.</p>
      )}
    </Empty>
  );
}
