/** Goes to an event by its id: as far back as is stated, page by page. */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { count, shortId } from '../../ui/values.tsx';
import type { EventLog, LogState } from './event-log.ts';

/** So many events are read for one search; then it asks. */
const MOST_READ = 5_000;

interface Jump {
  /** What the search says; null where there is nothing to say. */
  note: ReactNode;
  /** The event to scroll to, once; it is new for each jump. */
  goTo: { id: string } | null;
  /** The reader has it before them: there is nothing to go to. */
  settle: (id: string | undefined) => void;
}

/** `wanted` is the event that is unfolded: where it is not among those that were read, it is looked for. */
export function useJump(log: EventLog, state: LogState, wanted: string | undefined): Jump {
  const [limit, setLimit] = useState(MOST_READ);
  const [goTo, setGoTo] = useState<{ id: string } | null>(null);
  const [missing, setMissing] = useState<string | null>(null);
  const settled = useRef<string | undefined>(undefined);
  const settle = useCallback((id: string | undefined) => {
    settled.current = id;
  }, []);
  const { phase, count: read, end, isReadingOlder, olderError } = state;
  const look = useEffectEvent(() => {
    if (wanted === undefined) settled.current = undefined;
    if (wanted === undefined || wanted === settled.current) return setMissing(null);
    if (phase !== 'shown' || isReadingOlder) return;
    if (log.indexOf(wanted) !== -1) {
      settled.current = wanted;
      setGoTo({ id: wanted });
      return setMissing(null);
    }
    setMissing(wanted);
    if (end === 'more' && !olderError && read < limit) void log.readOlder();
  });
  useEffect(() => look(), [wanted, phase, read, isReadingOlder, limit]);
  if (missing === null || phase !== 'shown') return { note: null, goTo, settle };
  const isSearching = end === 'more' && !olderError && read < limit;
  return {
    goTo,
    settle,
    note: (
      <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        {isSearching
          ? `Looking for ${shortId(missing)} in what is older: ${count(read)} read.`
          : end === 'more'
            ? `${shortId(missing)} is not among the newest ${count(read)} events.`
            : `No event that is kept here is ${shortId(missing)}. It may be on the other feed, or left out by a filter.`}
        {!isSearching && end === 'more' && (
          <Button onPress={() => setLimit(read + MOST_READ)}>Search the next {count(MOST_READ)}</Button>
        )}
      </p>
    ),
  };
}
