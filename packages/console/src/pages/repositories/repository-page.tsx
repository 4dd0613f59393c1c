import type { Repository } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { boundProjectsQuery, repositoryQuery } from '../../api/repositories-queries.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { Id, plural, Time } from '../../ui/values.tsx';
import { BranchList } from './branches.tsx';
import { CloneCommands } from './clone.tsx';
import { Inspect } from './inspect.tsx';
import { Mark } from './scm-parts.tsx';
import { OpenPull, PullList } from './pull-list.tsx';
import { RepositorySettings } from './repository-settings.tsx';
import { isHosted, providerName } from './words.ts';

const route = getRouteApi('/signed-in/organization/repositories/$repositoryId');

export function RepositoryPage() {
  const { repositoryId } = route.useParams();
  const repository = useQuery(repositoryQuery(repositoryId));
  const { data } = repository;
  const title = data?.fullName ?? 'Repository';
  return (
    <Page
      title={title}
      heading={
        <span className="flex flex-wrap items-center gap-2">
          <Plain text={title} />
          <span className="flex gap-2 text-13 font-normal">
            {data?.private && <Mark>private</Mark>}
            {data?.archived && <Mark>archived</Mark>}
          </span>
        </span>
      }
      actions={data && isHosted(data) && <OpenPull key={data.id} repository={data} />}
    >
      <Shown query={repository}>{(shown) => <Parts key={shown.id} repository={shown} />}</Shown>
    </Page>
  );
}

const PARTS = [
  { part: undefined, text: 'Overview' },
  { part: 'branches', text: 'Branches' },
  { part: 'pull-requests', text: 'Pull requests' },
  { part: 'settings', text: 'Settings' },
] as const;

const TAB = 'flex items-center border-b-2 px-2 py-2 whitespace-nowrap';

function Parts({ repository }: { repository: Repository }) {
  const { part } = route.useSearch();
  const mayChange = useMay('repo:update');
  const hasSettings = mayChange && isHosted(repository);
  const shown = PARTS.filter((one) => one.part !== 'settings' || hasSettings);
  return (
    <>
      <nav aria-label="Parts of the repository" className="tabs flex shrink-0 border-b border-line px-2">
        {shown.map((one) => (
          <Link
            key={one.text}
            from="/organization/repositories/$repositoryId"
            to="."
            search={one.part ? { part: one.part } : {}}
            aria-current={one.part === part ? 'page' : undefined}
            className={`${TAB} ${one.part === part ? 'border-water text-ink' : 'border-transparent text-ink-2 hover:text-ink'}`}
          >
            {one.text}
          </Link>
        ))}
      </nav>
      {part === 'branches' ? (
        <BranchList repository={repository} />
      ) : part === 'pull-requests' ? (
        <PullList repository={repository} />
      ) : part === 'settings' && hasSettings ? (
        <RepositorySettings repository={repository} />
      ) : (
        <Overview repository={repository} />
      )}
    </>
  );
}

function Overview({ repository }: { repository: Repository }) {
  const { id, provider, installationId, url, defaultBranch, createdAt } = repository;
  const { data: projects } = useQuery(boundProjectsQuery());
  const bound = projects?.items.filter((project) => project.repositoryId === id).length;
  return (
    <>
      <Facts>
        <Fact name="Host">
          <span>
            {isHosted(repository) ? (
              providerName(provider)
            ) : (
              <OutsideLink href={url} text={`Open at ${providerName(provider)}`} />
            )}
            {' · '}
            <Link
              to="/organization/installations/$installationId"
              params={{ installationId }}
              className="link"
            >
              installation
            </Link>
          </span>
        </Fact>
        <Fact name="Default branch">
          <code className="font-mono text-mono">
            <Plain text={defaultBranch} />
          </code>
        </Fact>
        <Fact name="Merges by">{repository.mergeMethods.join(', ')}</Fact>
        {isHosted(repository) && (
          <Fact name="Needs checks">
            {repository.requiredChecks.length === 0 ? (
              'none'
            ) : (
              <span className="long">
                <Plain text={repository.requiredChecks.join(', ')} />
              </span>
            )}
          </Fact>
        )}
        <Fact name="Used by">
          <Link to="/projects" search={{ repositoryId: id }} className="link">
            {bound === undefined || projects?.nextCursor ? 'its projects' : plural(bound, 'project')}
          </Link>
        </Fact>
        <Fact name="Known since">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Id">
          <Id value={id} />
        </Fact>
      </Facts>
      <Section title="At a branch or commit">
        <Inspect repository={repository} />
      </Section>
      <Section title="Work on it">
        <div className="px-4 pb-6">
          <CloneCommands repository={repository} />
        </div>
      </Section>
    </>
  );
}
