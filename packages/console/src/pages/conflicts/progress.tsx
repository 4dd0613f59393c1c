/** An apply on its way through the queue, and its end. */
import type { Apply } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { appliesQuery, headHistoryQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { Took, plural } from '../../ui/values.tsx';
import { aheadOf } from '../applies/queue.ts';
import { Repairs } from '../applies/repairs.tsx';

export function Progress({ apply }: { apply: Apply }) {
  return apply.status === 'applied' ? <Applied apply={apply} /> : <Waiting apply={apply} />;
}

function Waiting({ apply }: { apply: Apply }) {
  const { projectId: appId, id, repairs } = apply;
  const queued = useInfiniteQuery(appliesQuery(appId, { status: 'queued' }));
  const ahead = queued.data ? aheadOf(apply, itemsOf(queued.data)) : null;
  return (
    <>
      <div role="status" className="flex flex-col gap-2 px-4 py-4">
        <p className="flex flex-wrap items-center gap-3 text-15">
          <Status status={repairs.length > 0 ? 'repairing' : ahead === 0 ? 'merging' : 'queued'} />
          <span>
            {repairs.length > 0
              ? `An agent repairs ${plural(apply.conflicts.length, 'path')}, attempt ${repairs.length}.`
              : ahead === null
                ? 'In the queue.'
                : ahead === 0
                  ? 'Next: it is merged with the head now.'
                  : `${plural(ahead, 'apply is', 'applies are')} merged before this one.`}
          </span>
          <span className="text-ink-3">
            <Took from={apply.createdAt} to={null} />
          </span>
        </p>
        <p className="text-ink-2">
          It goes on without this page. The thread takes no message until it has ended.
        </p>
        <div>
          <ButtonLink to="/apps/$appId/applies/$applyId" params={{ appId, applyId: id }}>
            Show the apply
          </ButtonLink>
        </div>
      </div>
      {repairs.length > 0 && (
        <Section title="Repairs">
          <Repairs apply={apply} />
        </Section>
      )}
    </>
  );
}

function Applied({ apply }: { apply: Apply }) {
  const { projectId: appId, id, headSourceId, resultSourceId } = apply;
  const heads = useInfiniteQuery(headHistoryQuery(appId));
  const revision = heads.data?.pages
    .flatMap(({ items }) => items)
    .find(({ applyId }) => applyId === id)?.revision;
  return (
    <div role="status" className="flex flex-col gap-3 px-4 py-4">
      <p className="flex items-center gap-3 text-15">
        <Status status="applied" />
        <span>
          {revision === undefined
            ? 'The draft is in the head.'
            : `The draft is in the head, as revision ${revision}.`}
        </span>
      </p>
      <p className="text-ink-2">The draft is sealed. Work goes on in a new thread, from the new head.</p>
      <div className="flex flex-wrap gap-2">
        <ButtonLink kind="primary" to="/apps/$appId" params={{ appId }}>
          Show the race
        </ButtonLink>
        {headSourceId && resultSourceId && (
          <ButtonLink
            to="/apps/$appId/diff"
            params={{ appId }}
            search={{ from: headSourceId, to: resultSourceId }}
          >
            Show what it changed
          </ButtonLink>
        )}
        <ButtonLink to="/apps/$appId/applies/$applyId" params={{ appId, applyId: id }}>
          Show the apply
        </ButtonLink>
      </div>
    </div>
  );
}
