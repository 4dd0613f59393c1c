/** The merge queue of an app. */
import type { Apply } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { allThreadsQuery, appliesQuery, headHistoryQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time, plural } from '../../ui/values.tsx';
import { Plain } from '../../code/index.ts';
import { StatusFilter } from '../builds/status-filter.tsx';
import { aheadOf, stageOf } from './queue.ts';

const route = getRouteApi('/signed-in/apps/$appId/applies');
const STATUSES = ['queued', 'applied', 'conflicted', 'failed'] as const;
type StatusWord = (typeof STATUSES)[number];

export function AppliesPage() {
  const { appId } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const applies = useInfiniteQuery(appliesQuery(appId, status && { status }));
  return (
    <Page title="Applies">
      <StatusFilter
        label="Status"
        statuses={STATUSES}
        value={status}
        onChange={(next) => void navigate({ search: next ? { status: next } : {}, replace: true })}
      />
      <Shown query={applies}>
        {(data) => {
          const items = itemsOf(data);
          return items.length === 0 ? (
            <NoApplies status={status} appId={appId} />
          ) : (
            <>
              <List appId={appId} items={items} />
              <ShowMore list={applies} />
            </>
          );
        }}
      </Shown>
    </Page>
  );
}

function NoApplies({ status, appId }: { status: StatusWord | undefined; appId: string }) {
  if (status)
    return (
      <Empty title={`No apply is ${status}`}>
        <Link to="/apps/$appId/applies" params={{ appId }} className="link">
          Show all applies
        </Link>
      </Empty>
    );
  return (
    <Empty title="No applies yet">
      <p>
        An apply brings the draft of a thread into the head. Open a thread that has changes, and apply it.
      </p>
      <Link to="/apps/$appId" params={{ appId }} className="link">
        Show the threads
      </Link>
    </Empty>
  );
}

function List({ appId, items }: { appId: string; items: Apply[] }) {
  const queued = useInfiniteQuery(appliesQuery(appId, { status: 'queued' }));
  const threads = useInfiniteQuery(allThreadsQuery({ projectId: appId, sort: 'activity' }));
  const heads = useInfiniteQuery(headHistoryQuery(appId));
  const queue = queued.data ? itemsOf(queued.data) : null;
  const titles = new Map(itemsOf(threads.data).map(({ id, title }) => [id, title]));
  const revisions = new Map(
    heads.data?.pages.flatMap(({ items }) => items).map(({ applyId, revision }) => [applyId, revision]),
  );
  return (
    <ul aria-label="Applies">
      {items.map((apply) => {
        const { id, sequence, status, threadId, conflicts, createdAt, finishedAt } = apply;
        const ahead = queue && aheadOf(apply, queue);
        const revision = revisions.get(id);
        return (
          <li key={id}>
            <Link
              to="/apps/$appId/applies/$applyId"
              params={{ appId, applyId: id }}
              data-row
              className="row flex-wrap gap-x-3 gap-y-0"
            >
              <span className="w-6 shrink-0 font-mono text-mono text-ink-3" title="Position in the queue">
                {sequence}
              </span>
              <span className="w-26 shrink-0">
                <Status status={stageOf(apply, ahead)} />
              </span>
              <span className="long grow basis-40">
                {titles.has(threadId) ? (
                  <Plain text={titles.get(threadId) ?? 'Untitled thread'} />
                ) : (
                  <Id value={threadId} copy={false} />
                )}
              </span>
              <span className="text-12 text-ink-2 max-sm:ml-9">
                {status === 'queued' && apply.repairs.length === 0 && ahead ? `${ahead} before it` : null}
                {status === 'queued' && apply.repairs.length > 0 && `attempt ${apply.repairs.length}`}
                {status === 'applied' && revision !== undefined && `revision ${revision}`}
                {status === 'conflicted' &&
                  (conflicts.length > 0 ? plural(conflicts.length, 'conflict') : 'head moved')}
              </span>
              <span className="ml-auto w-24 shrink-0 text-right text-12 text-ink-3">
                <Time at={finishedAt ?? createdAt} />
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
