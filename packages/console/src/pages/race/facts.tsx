/** The state of an app in one line: its head, the queue before it, what builds and what can be looked at. */
import type { Project } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buildsOfQuery, previewsOfQuery } from '../../api/projects-queries.ts';
import { appQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { CopyButton, count } from '../../ui/values.tsx';

export function HeadFacts({ appId, queued }: { appId: string; queued: number | null }) {
  const { data: app } = useQuery(appQuery(appId));
  const builds = useInfiniteQuery(buildsOfQuery(appId, { status: 'queued,building' }));
  const previews = useInfiniteQuery(previewsOfQuery(appId, { status: 'ready' }));
  const source = app?.headSourceId;
  return (
    <dl className="flex flex-wrap items-center gap-x-6">
      <One name="Head">
        <span className="tabular-nums">revision {app?.headRevision ?? '–'}</span>
        {source && (
          <span className="inline-flex items-center">
            <Link
              to="/apps/$appId/sources/$sourceId"
              params={{ appId, sourceId: source }}
              className="link font-mono text-mono"
              title={source}
            >
              …{source.slice(-6)}
            </Link>
            <CopyButton text={source} label="Copy the id of the head’s source" />
            <Link
              to="/apps/$appId/sources/$sourceId"
              params={{ appId, sourceId: source }}
              search={{ q: '' }}
              className="link"
            >
              Search its files
            </Link>
          </span>
        )}
      </One>
      {app?.repositoryId != null && <Repository app={app} />}
      {app?.repositoryId == null && (
        <One name="Queue">
          <Link to="/apps/$appId/applies" params={{ appId }} search={{ status: 'queued' }} className="link">
            {queued === null ? '–' : queued === 0 ? 'empty' : count(queued)}
          </Link>
        </One>
      )}
      <One name="Builds">
        <Link to="/apps/$appId/builds" params={{ appId }} className="link">
          {said(builds, 'running')}
        </Link>
      </One>
      <One name="Previews">
        <Link to="/apps/$appId/previews" params={{ appId }} search={{ status: 'ready' }} className="link">
          {said(previews, 'ready')}
        </Link>
      </One>
    </dl>
  );
}

/** Where the head is from. */
const Repository = ({ app }: { app: Project }) => (
  <One name="Repository">
    {app.repositoryId !== null && (
      <Link
        to="/organization/repositories/$repositoryId"
        params={{ repositoryId: app.repositoryId }}
        className="link long"
      >
        <Plain text={app.repoFullName ?? app.repositoryId} />
      </Link>
    )}
    {app.defaultBranch !== null && (
      <span className="long text-ink-2">
        at <Plain text={app.defaultBranch} />
      </span>
    )}
    {app.headCommitSha !== null && (
      <span className="inline-flex items-center font-mono text-mono" title={app.headCommitSha}>
        {app.headCommitSha.slice(0, 7)}
        <CopyButton text={app.headCommitSha} label="Copy the head’s commit" />
      </span>
    )}
  </One>
);

function One({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-7 items-center gap-2">
      <dt className="text-ink-3">{name}</dt>
      <dd className="flex items-center gap-2">{children}</dd>
    </div>
  );
}

/** `2 running`; `50+ running` where the list goes on. */
function said(
  list: { data?: Parameters<typeof itemsOf<{ id: string }>>[0]; hasNextPage: boolean },
  word: string,
): string {
  if (!list.data) return '–';
  const items = itemsOf(list.data).length;
  return items === 0 ? `none ${word}` : `${count(items)}${list.hasNextPage ? '+' : ''} ${word}`;
}
