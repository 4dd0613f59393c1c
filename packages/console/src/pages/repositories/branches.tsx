import type { Repository } from '@headrace/client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { branchesQuery } from '../../api/repositories-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Find } from '../../ui/find.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty } from '../../ui/states.tsx';
import { FromHost, Mark, Sha } from './scm-parts.tsx';

const route = getRouteApi('/signed-in/organization/repositories/$repositoryId');

/** Read from the host as it is now. */
export function BranchList({ repository }: { repository: Repository }) {
  const { id: repositoryId, installationId } = repository;
  const { query = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const branches = useInfiniteQuery({
    ...branchesQuery(repositoryId, query),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <div className="border-b border-line px-4 py-3">
        <Find
          label="Find branches by how their names begin"
          placeholder="Begins with"
          value={query}
          onChange={(next) =>
            void navigate({
              search: { part: 'branches', ...(next && { query: next }) },
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
      <FromHost query={branches} installationId={installationId}>
        {({ pages }) => {
          // Without an id: told apart by their names.
          const items = [
            ...new Map(pages.flatMap((page) => page.items).map((one) => [one.name, one])).values(),
          ];
          return items.length === 0 ? (
            <Empty title={query ? 'No branch begins like this' : 'No branches yet'}>
              <p>
                {query
                  ? 'Upper and lower case count.'
                  : 'Push a first commit: the overview has the commands.'}
              </p>
            </Empty>
          ) : (
            <ul aria-label="Branches">
              {items.map(({ name, commitSha, isDefault, protected: isProtected }) => (
                <li key={name} className="row flex-wrap gap-y-0 hover:bg-sunk">
                  <Link
                    data-row
                    to="/organization/repositories/$repositoryId"
                    params={{ repositoryId }}
                    search={isDefault ? {} : { ref: name }}
                    className="flex min-h-7 min-w-0 flex-[1_1_200px] items-center gap-2"
                  >
                    <span className="truncate font-mono text-mono" title={name}>
                      <Plain text={name} />
                    </span>
                    {isDefault && <Mark>default</Mark>}
                    {isProtected && <Mark>protected</Mark>}
                  </Link>
                  <Sha sha={commitSha} />
                </li>
              ))}
            </ul>
          );
        }}
      </FromHost>
      <ShowMore list={branches} />
    </>
  );
}
