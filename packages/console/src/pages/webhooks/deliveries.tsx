import type { Delivery, Page, Subscription } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { deliveryQuery } from '../../api/hooks-queries.ts';
import { Select } from '../../ui/fields.tsx';
import { Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { StatusFilter } from '../builds/status-filter.tsx';
import { DeliveryRow } from './delivery-row.tsx';
import { EVENT_TYPES, PING } from './event-types.ts';

const route = getRouteApi('/signed-in/organization/webhooks/$webhookId');
const STATUSES = ['pending', 'succeeded', 'failed'] as const;
const ANY = '';

/** Newest first, narrowed by the address; one of them may be open. */
export function Deliveries({
  webhook,
  query,
  items,
}: {
  webhook: Subscription;
  query: UseInfiniteQueryResult<InfiniteData<Page<Delivery>>>;
  items: readonly Delivery[];
}) {
  const { status, eventType, delivery: open } = route.useSearch();
  const navigate = route.useNavigate();
  // Null: another one than that of the address at first was opened since.
  const [first, setFirst] = useState<string | null | undefined>(open);
  if (first !== null && open !== first) setFirst(null);
  const isNext = first === null;
  const isListed = open === undefined || items.some(({ id }) => id === open);
  const types: string[] = [...EVENT_TYPES, PING];
  const narrow = (by: { status: typeof status; eventType: string | undefined }) =>
    void navigate({
      search: {
        ...(by.status && { status: by.status }),
        ...(by.eventType && { eventType: by.eventType }),
        ...(open && { delivery: open }),
      },
      replace: true,
      resetScroll: false,
    });
  const isNarrowed = status !== undefined || eventType !== undefined;
  return (
    <Section title="Deliveries">
      <div className="flex flex-wrap items-start gap-x-4 border-b border-line [&>*]:border-0">
        <StatusFilter
          label="Status"
          statuses={STATUSES}
          value={status}
          onChange={(next) => narrow({ status: next, eventType })}
        />
        <div className="px-4 pb-3 lg:ml-auto">
          <Select
            label="Type of event"
            quiet
            choices={[
              { id: ANY, text: 'All types of events' },
              ...types.map((id) => ({ id, text: id })),
              ...(eventType !== undefined && !types.includes(eventType)
                ? [{ id: eventType, text: eventType }]
                : []),
            ]}
            value={eventType ?? ANY}
            onChange={(next) => narrow({ status, eventType: next === ANY ? undefined : next })}
          />
        </div>
      </div>
      {!isListed && query.data !== undefined && <Alone webhook={webhook} deliveryId={open} isNext={isNext} />}
      <Shown query={query}>
        {() =>
          items.length === 0 ? (
            <Empty title={isNarrowed ? 'No such delivery' : 'No deliveries yet'}>
              <p>
                {isNarrowed
                  ? 'Deliveries of another status or type are not shown. Those that have ended are kept as long as events.'
                  : 'The next event of a chosen type is delivered and shown here. Send a test to see what your receiver answers.'}
              </p>
            </Empty>
          ) : (
            <ul aria-label="Deliveries">
              {items.map((delivery) => (
                <DeliveryRow
                  key={delivery.id}
                  webhook={webhook}
                  delivery={delivery}
                  isOpen={delivery.id === open}
                  isNext={isNext}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      <ShowMore list={query} />
    </Section>
  );
}

/** The open one, where the list as it is narrowed or read so far does not have it. */
function Alone({
  webhook,
  deliveryId,
  isNext,
}: {
  webhook: Subscription;
  deliveryId: string;
  isNext: boolean;
}) {
  const delivery = useQuery(deliveryQuery(webhook.id, webhook.disabled, deliveryId));
  return (
    <Shown query={delivery}>
      {(shown) => (
        <ul aria-label="The open delivery" className="border-b-2 border-line">
          <DeliveryRow webhook={webhook} delivery={shown} isOpen isNext={isNext} />
        </ul>
      )}
    </Shown>
  );
}
