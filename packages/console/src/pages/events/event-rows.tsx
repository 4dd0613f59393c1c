import { useQuery } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { scopesQuery } from '../../api/running-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/states.tsx';
import type { EventLog, LogState } from './event-log.ts';
import { EventRow } from './event-row.tsx';
import type { Filter } from './filter.ts';
import { Kept } from './kept.tsx';

const ROW = 29;
const OVERSCAN = 8;
/** What is older is read before the reader comes to the last row. */
const READ_AHEAD = 20;

interface Props {
  log: EventLog;
  filter: Filter;
  state: LogState;
  opened: string | undefined;
  goTo: { id: string } | null;
  onOpen: (id: string | undefined) => void;
}

export function EventRows({ log, filter, state, opened, goTo, onOpen }: Props) {
  const { count } = state;
  const box = useRef<HTMLUListElement>(null);
  const margin = useTopOf(box);
  const names = useNames(filter);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled by React's compiler
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => ROW,
    // Another one for each count: the rows have moved.
    getItemKey: useCallback(
      (index: number) => (index < count && log.at(index)?.event.id) || index,
      [log, count],
    ),
    overscan: OVERSCAN,
    scrollMargin: margin,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= count - READ_AHEAD && !state.olderError) void log.readOlder();
  }, [log, last, count, state]);
  useEffect(() => {
    const at = goTo ? log.indexOf(goTo.id) : -1;
    if (at !== -1) virtual.scrollToIndex(at, { align: 'center' });
  }, [virtual, log, goTo]);
  return (
    <>
      <ul ref={box} aria-label="Events" className="relative" style={{ height: virtual.getTotalSize() }}>
        {rows.map(({ index, key, start }) => {
          const shown = log.at(index);
          return (
            shown && (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={state.end === 'more' ? -1 : count}
                className="absolute top-0 left-0 w-full border-b border-line"
                style={{ transform: `translateY(${start - margin}px)` }}
              >
                <EventRow
                  shown={shown}
                  project={names?.get(shown.event.projectId ?? '')}
                  isOpen={shown.event.id === opened}
                  onOpen={onOpen}
                />
              </li>
            )
          );
        })}
      </ul>
      <End log={log} state={state} />
    </>
  );
}

function End({ log, state: { end, olderError } }: { log: EventLog; state: LogState }) {
  if (olderError) return <Failure error={olderError} retry={() => void log.readOlder()} />;
  if (end === 'more') return <p className="px-4 py-3 text-ink-3">Reading older events</p>;
  return (
    <div className="flex flex-wrap items-center gap-3 px-4 py-3 text-ink-3">
      {end === 'cut' ? (
        <>
          Older events were let go, so that the page stays quick.
          <Button onPress={() => void log.start()}>Read them again</Button>
        </>
      ) : end === 'expired' ? (
        <span>
          What is older is not kept any more. <Kept />
        </span>
      ) : (
        <span>
          This is the oldest one. <Kept />
        </span>
      )}
    </div>
  );
}

/** Of apps or projects, by id; null where all events are of one. */
function useNames({ isDirect, appId }: Filter): Map<string, string> | null {
  const { data } = useQuery(scopesQuery(isDirect ? 'direct' : 'platform'));
  return useMemo(
    () => (appId === undefined ? new Map(data?.map(({ id, name }) => [id, name])) : null),
    [appId, data],
  );
}

/** Where the element begins in the page. */
function useTopOf(ref: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (ref.current) setTop(Math.round(ref.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [ref]);
  return top;
}
