import type { Repository, ScmPullRequest } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pullsQuery } from '../../api/repositories-queries.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Empty, Shown } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { StatusFilter } from '../builds/status-filter.tsx';
import { NewPull } from './new-pull.tsx';
import { AtHost, Mark, State } from './scm-parts.tsx';
import { isHosted } from './words.ts';

const route = getRouteApi('/signed-in/organization/repositories/$repositoryId');
const STATES = ['open', 'closed', 'merged'] as const;

export const PullList = ({ repository }: { repository: Repository }) =>
  isHosted(repository) ? (
    <Hosted repository={repository} />
  ) : (
    <AtHost href={`${repository.url}/pulls`} provider={repository.provider} />
  );

function Hosted({ repository }: { repository: Repository }) {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const pulls = useQuery(pullsQuery(repository.id, state));
  return (
    <>
      <div className="pt-3">
        <StatusFilter
          label="State"
          statuses={STATES}
          value={state}
          onChange={(next) =>
            void navigate({ search: { part: 'pull-requests', ...(next && { state: next }) }, replace: true })
          }
        />
      </div>
      <Shown query={pulls}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? (
              <Empty title={state ? `None is ${state}` : 'No pull requests yet'}>
                <p>
                  {state
                    ? 'Those in other states are not shown.'
                    : 'Push a branch, then open one for it. Threads of projects open theirs by themselves.'}
                </p>
              </Empty>
            ) : (
              <ul aria-label="Pull requests">
                {items.map((pull) => (
                  <Row key={pull.number} pull={pull} />
                ))}
              </ul>
            )}
            {nextCursor && (
              <p className="px-4 py-3 text-ink-2">The newest 200 are shown: narrow them by their state.</p>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

/** For a hosted repository. */
export function OpenPull({ repository }: { repository: Repository }) {
  const [isNew, setNew] = useState(false);
  const may = useMay('repo:update');
  const open = () => setNew(true);
  useKeys(may ? [{ keys: 'n', does: 'New pull request', run: open }] : []);
  if (!may) return null;
  return (
    <>
      <Button onPress={open}>New pull request</Button>
      <Dialog title="New pull request" wide isOpen={isNew} onClose={() => setNew(false)}>
        <NewPull repository={repository} onClose={() => setNew(false)} />
      </Dialog>
    </>
  );
}

function Row({ pull }: { pull: ScmPullRequest }) {
  const { repositoryId, number, title, state, draft, headRef, baseRef, author, updatedAt } = pull;
  return (
    <li>
      <Link
        data-row
        to="/organization/repositories/$repositoryId/pull-requests/$number"
        params={{ repositoryId, number: String(number) }}
        className="row flex-wrap gap-y-0"
      >
        <span className="w-20 shrink-0">
          <State state={state} />
        </span>
        <span className="min-w-0 flex-[1_1_240px]">
          <span className="flex items-center gap-2">
            <span className="truncate font-bold">
              <Plain text={title} />
            </span>
            <span className="text-ink-3">#{number}</span>
            {draft && <Mark>draft</Mark>}
          </span>
          <span className="block truncate text-12 text-ink-3">
            <span className="font-mono">
              <Plain text={`${headRef} → ${baseRef}`} />
            </span>
            {' · '}
            <Plain text={author} />
          </span>
        </span>
        <span className="text-ink-3 max-sm:basis-full max-sm:pl-23">
          <Time at={updatedAt} />
        </span>
      </Link>
    </li>
  );
}
