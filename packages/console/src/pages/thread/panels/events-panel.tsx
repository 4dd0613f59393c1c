/** The thread's events, newest first; new ones come by themselves. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useEvents } from '../../../live/index.ts';
import type { LiveEvent } from '../../../live/index.ts';
import { threadEventsQuery } from '../../../api/queries.ts';
import { Json } from '../../../app/json.tsx';
import { ShowMore } from '../../../ui/show-more.tsx';
import { Empty, Shown } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/values.tsx';
import { useThread } from '../context.ts';

const MOST_LIVE = 500;

export function EventsPanel() {
  const place = useThread();
  const { threadId } = place;
  const query = useInfiniteQuery(threadEventsQuery(place));
  const [live, setLive] = useState<LiveEvent[]>([]);
  useEvents((events) => {
    const own = events.filter((event) => event.threadId === threadId).toReversed();
    if (own.length > 0) setLive((now) => [...own, ...now].slice(0, MOST_LIVE));
  });
  return (
    <Shown query={query}>
      {({ pages }) => {
        const events = [
          ...new Map([...live, ...pages.flatMap((page) => page.events)].map((one) => [one.id, one])).values(),
        ];
        if (events.length === 0)
          return (
            <Empty title="No event is kept">
              <p>Events are kept for some days. New ones are shown as they come.</p>
            </Empty>
          );
        return (
          <>
            <ul>
              {events.map((event) => (
                <EventRow key={event.id} event={event} />
              ))}
            </ul>
            <ShowMore list={query} />
          </>
        );
      }}
    </Shown>
  );
}

function EventRow({ event }: { event: LiveEvent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="border-b border-line">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-7 w-full items-center gap-2 px-4 py-1 text-left hover:bg-sunk"
      >
        <span className="long font-mono text-mono">{event.type}</span>
        {event.data.status !== undefined && (
          // What was running then may have ended: nothing turns.
          <span className="text-12 [&_svg]:animate-none">
            <Status status={event.data.status} />
          </span>
        )}
        <span className="ml-auto text-12 text-ink-3">
          <Time at={event.occurredAt} />
        </span>
      </button>
      {isOpen && (
        <div className="px-4 pb-2">
          <Json label="The event" value={event} />
        </div>
      )}
    </li>
  );
}
