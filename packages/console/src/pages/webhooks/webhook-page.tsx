/** One webhook: how it is, what may be done with it, and what became of its deliveries. */
import type { Subscription } from '@headrace/client';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { deliveriesQuery, projectChoicesQuery, webhookQuery } from '../../api/hooks-queries.ts';
import type { DeliveryFilter } from '../../api/hooks-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { Fact, Facts, Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time } from '../../ui/values.tsx';
import { Deliveries } from './deliveries.tsx';
import { isAll } from './event-types.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { stateOf } from './words.ts';

const route = getRouteApi('/signed-in/organization/webhooks/$webhookId');

export function WebhookPage() {
  const { webhookId } = route.useParams();
  const { status, eventType } = route.useSearch();
  const webhook = useQuery(webhookQuery(webhookId));
  const filter = {
    ...(status && { status }),
    ...(eventType && { eventType: eventType as NonNullable<DeliveryFilter['eventType']> }),
  };
  const deliveries = useInfiniteQuery(deliveriesQuery(webhookId, webhook.data?.disabled ?? false, filter));
  const items = useMemo(() => itemsOf(deliveries.data), [deliveries.data]);
  // An attempt may disable it, or end its failing.
  const attempts = items.map(({ id, attemptCount }) => `${id} ${attemptCount}`).join();
  const queries = useQueryClient();
  const isShown = webhook.data !== undefined;
  useEffect(() => {
    if (isShown && attempts !== '')
      void queries.invalidateQueries({ queryKey: webhookQuery(webhookId).queryKey, exact: true });
  }, [queries, webhookId, isShown, attempts]);
  const { data } = webhook;
  return (
    <Page
      title="Webhook"
      heading={
        <span className="flex flex-wrap items-center gap-3">
          Webhook <Id value={webhookId} />
          <span className="text-13 font-normal">
            {data && <Status status={stateOf(data).status} word={stateOf(data).word} />}
          </span>
        </span>
      }
      actions={data && <WebhookActions webhook={data} />}
    >
      <Shown query={webhook}>
        {(shown) => (
          <>
            <About webhook={shown} />
            <Deliveries webhook={shown} query={deliveries} items={items} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function About({ webhook }: { webhook: Subscription }) {
  const { url, types, projectId, failingSince } = webhook;
  const { status, meaning } = stateOf(webhook);
  return (
    <>
      {meaning && (
        <p
          className={`mx-4 max-w-[72ch] border-l-2 pl-3 ${status === 'failed' ? 'border-fail' : 'border-wait'}`}
        >
          {meaning}
        </p>
      )}
      <Facts>
        <Fact name="URL">
          <code className="long font-mono text-mono">
            <Plain text={url} />
          </code>
          <CopyButton text={url} label="Copy the URL" />
        </Fact>
        <Fact name="Events">
          {isAll(types) ? (
            'all'
          ) : (
            <span className="long font-mono text-mono">{types.toSorted().join(', ')}</span>
          )}
        </Fact>
        <Fact name="Project">
          {projectId === null ? 'all of the organization’s' : <ProjectLink projectId={projectId} />}
        </Fact>
        {failingSince !== null && (
          <Fact name="Failing since">
            <span className="text-fail">
              <Time at={failingSince} />
            </span>
            <span className="text-ink-3">no attempt has succeeded since</span>
          </Fact>
        )}
        <Fact name="Created">
          <Time at={webhook.createdAt} />
        </Fact>
      </Facts>
    </>
  );
}

function ProjectLink({ projectId }: { projectId: string }) {
  const projects = useInfiniteQuery(projectChoicesQuery('direct'));
  const name = itemsOf(projects.data).find(({ id }) => id === projectId)?.name;
  return (
    <Link to="/apps/$appId" params={{ appId: projectId }} className="link long">
      {name === undefined ? projectId : <Plain text={name} />}
    </Link>
  );
}
