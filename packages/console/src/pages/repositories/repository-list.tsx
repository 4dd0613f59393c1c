import type { Project, Repository } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { boundProjectsQuery } from '../../api/repositories-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { count, plural, Time } from '../../ui/values.tsx';
import { Mark } from './scm-parts.tsx';
import { providerName } from './words.ts';

export function RepositoryList({ repositories }: { repositories: readonly Repository[] }) {
  const { data } = useQuery(boundProjectsQuery());
  const users = projectsOf(data?.items ?? []);
  const isMore = !data || Boolean(data.nextCursor);
  return (
    <ul aria-label="Repositories" className="border-t border-line">
      {repositories.map((repository) => (
        <Row
          key={repository.id}
          repository={repository}
          projects={users.get(repository.id)}
          isMore={isMore}
        />
      ))}
    </ul>
  );
}

/** How many projects use each repository. */
function projectsOf(projects: readonly Project[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { repositoryId } of projects)
    if (repositoryId !== null) counts.set(repositoryId, (counts.get(repositoryId) ?? 0) + 1);
  return counts;
}

function Row({
  repository,
  projects,
  isMore,
}: {
  repository: Repository;
  projects: number | undefined;
  /** Not all projects were read. */
  isMore: boolean;
}) {
  const { id: repositoryId, fullName, provider, defaultBranch, updatedAt } = repository;
  return (
    <li className="row flex-wrap gap-y-0 hover:bg-sunk">
      <Link
        to="/organization/repositories/$repositoryId"
        params={{ repositoryId }}
        data-row
        className="flex min-h-7 min-w-0 flex-[1_1_220px] items-center gap-2"
      >
        <span className="truncate font-bold" title={fullName}>
          <Plain text={fullName} />
        </span>
        {repository.private && <Mark>private</Mark>}
        {repository.archived && <Mark>archived</Mark>}
      </Link>
      <span className="flex flex-wrap items-center gap-x-4 text-ink-2 max-md:basis-full">
        <span className="md:w-28">{provider === 'local' ? 'hosted here' : providerName(provider)}</span>
        <span className="truncate font-mono text-mono md:w-36" title="The default branch">
          <Plain text={defaultBranch} />
        </span>
        <span className="md:w-28">
          {projects === undefined ? (
            <span className="text-ink-3">{isMore ? '' : 'no project'}</span>
          ) : (
            <Link to="/projects" search={{ repositoryId }} className="link">
              {isMore ? `${count(projects)}+ projects` : plural(projects, 'project')}
            </Link>
          )}
        </span>
        <span className="text-ink-3 md:w-24 md:text-right">
          <Time at={updatedAt} />
        </span>
      </span>
    </li>
  );
}
