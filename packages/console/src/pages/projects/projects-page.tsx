import type { Project } from '@headrace/client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { projectsQuery } from '../../api/projects-queries.ts';
import { allThreadsQuery } from '../../api/queries.ts';
import { repositoryQuery } from '../../api/repositories-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Find } from '../../ui/find.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { WorkOf } from '../apps/work-of.tsx';
import { workByApp } from '../apps/work.ts';
import { CreateProject } from './create-project.tsx';

const route = getRouteApi('/signed-in/projects');

/** Every project of the Direct API, newest first. */
export function ProjectsPage() {
  const { query = '', repositoryId } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const mayCreate = useMay('project:create');
  const projects = useInfiniteQuery({
    ...projectsQuery({ ...(query && { query }), ...(repositoryId && { repositoryId }) }),
    placeholderData: keepPreviousData,
  });
  const create = () => setCreating(true);
  useKeys(mayCreate ? [{ keys: 'n', does: 'Create a project', run: create }] : []);
  return (
    <Page
      title="Projects"
      actions={
        <>
          <Find
            label="Find projects by name"
            placeholder="Find by name"
            value={query}
            onChange={(next) =>
              void navigate({
                search: (last) => ({ ...last, query: next || undefined }),
                replace: true,
                resetScroll: false,
              })
            }
          />
          {mayCreate && (
            <Button kind="primary" onPress={create}>
              Create a project
            </Button>
          )}
        </>
      }
    >
      {repositoryId !== undefined && <OfRepository repositoryId={repositoryId} />}
      <Shown query={projects}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length === 0 && !projects.hasNextPage)
            return query || repositoryId ? <NotFound query={query} /> : <FirstRun onCreate={create} />;
          return (
            <>
              <List projects={items} />
              <ShowMore list={projects} />
            </>
          );
        }}
      </Shown>
      <CreateProject isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

/** What the list is narrowed to. */
function OfRepository({ repositoryId }: { repositoryId: string }) {
  const { data } = useQuery(repositoryQuery(repositoryId));
  return (
    <p className="flex flex-wrap items-center gap-x-3 px-4 pb-3 text-ink-2">
      <span className="long">
        Only those of{' '}
        <Link to="/organization/repositories/$repositoryId" params={{ repositoryId }} className="link">
          {data ? <Plain text={data.fullName} /> : 'one repository'}
        </Link>
      </span>
      <Link to="/projects" search={(last) => ({ ...last, repositoryId: undefined })} className="link">
        Show all
      </Link>
    </p>
  );
}

function List({ projects }: { projects: Project[] }) {
  const threads = useInfiniteQuery(allThreadsQuery({ status: 'running,waiting,queued' }));
  const work = workByApp(itemsOf(threads.data));
  const isMore = threads.hasNextPage;
  return (
    <ul aria-label="Projects" className="border-t border-line">
      {projects.map((project) => (
        <li key={project.id}>
          <Link
            to="/apps/$appId"
            params={{ appId: project.id }}
            data-row
            className="row flex-wrap gap-y-0 md:flex-nowrap"
          >
            <span className="min-w-0 flex-1 truncate font-bold">
              <Plain text={project.name} />
            </span>
            <span className="text-ink-3 md:order-1 md:w-24 md:text-right">
              <Time at={project.updatedAt} />
            </span>
            {/* On a phone, the rest stands below. */}
            <span className="basis-full md:hidden" />
            <WorkOf work={work.get(project.id)} isMore={isMore} />
            <span className="min-w-0 truncate text-ink-2 md:w-64">
              <Where project={project} />
            </span>
            <span className="text-ink-3 tabular-nums md:w-40">{headOf(project)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Where({ project: { repoFullName, repositoryId, defaultBranch } }: { project: Project }) {
  if (repositoryId === null) return <span className="text-ink-3">no repository</span>;
  return (
    <>
      <Plain text={repoFullName ?? repositoryId} />
      {defaultBranch !== null && (
        <span className="text-ink-3">
          {' '}
          at <Plain text={defaultBranch} />
        </span>
      )}
    </>
  );
}

/** Revision and commit of the head. */
function headOf({ headRevision, headCommitSha, repositoryId }: Project) {
  if (headRevision === null) return repositoryId === null ? 'no files yet' : 'not fetched yet';
  return (
    <>
      revision {headRevision}
      {headCommitSha !== null && (
        <span className="ml-2 font-mono text-mono" title={headCommitSha}>
          {headCommitSha.slice(0, 7)}
        </span>
      )}
    </>
  );
}

function NotFound({ query }: { query: string }) {
  return (
    <Empty title="No project is like that">
      {query && (
        <p className="long">
          Nothing contains “<Plain text={query} />
          ”.
        </p>
      )}
      <Link to="/projects" className="link">
        Show all projects
      </Link>
    </Empty>
  );
}

function FirstRun({ onCreate }: { onCreate: () => void }) {
  const mayCreate = useMay('project:create');
  return (
    <Empty title="No projects yet">
      <p>
        A project is a repository, and the threads that change it: each begins at a branch, and its work
        becomes a pull request. Three steps to the first one:
      </p>
      <ol className="flex list-decimal flex-col gap-1 pl-5">
        <li>Create a project of a repository, or of files that you import.</li>
        <li>Start a thread and say what to change.</li>
        <li>Look at the change, then make a pull request of it.</li>
      </ol>
      {mayCreate ? (
        <Button kind="primary" onPress={onCreate}>
          Create the first project
        </Button>
      ) : (
        <p>Your role may not create projects. Ask an owner or admin for one.</p>
      )}
    </Empty>
  );
}
