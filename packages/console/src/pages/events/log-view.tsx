/** The events of one filter: live or held, newest first. Rows exist while they are on the screen. */
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import { client } from '../../api/client.ts';
import { serviceNow } from '../../api/clock.ts';
import { READ } from '../../api/query.ts';
import { useEvents, useLiveStatus } from '../../live/index.ts';
import { Button } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Empty, Failure, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { count, plural } from '../../ui/values.tsx';
import { Arrivals } from './arrivals.ts';
import { EventLog } from './event-log.ts';
import type { LogState } from './event-log.ts';
import { EventRows } from './event-rows.tsx';
import { feedOf, isFiltered, liveFeedOf } from './filter.ts';
import type { Filter } from './filter.ts';
import { Kept } from './kept.tsx';
import { RateView } from './rate-view.tsx';
import { useJump } from './use-jump.tsx';

const PAGE_EVENTS = 200;
/** Reading what was missed is tried again after this. */
const AGAIN_MS = 5_000;

/** So far down, the newest row is out of view. */
const AWAY_PX = 120;

interface Props {
  filter: Filter;
  /** The event that is unfolded. */
  opened: string | undefined;
  isPaused: boolean;
  onOpen: (id: string | undefined) => void;
  onPause: (isPaused: boolean) => void;
  onClear: () => void;
}

function newLog(filter: Filter): EventLog {
  const feed = feedOf(filter);
  return new EventLog({
    filter,
    feed,
    liveFeed: liveFeedOf(filter),
    read: (cursor, signal) =>
      client.events.list(feed, {
        ...READ,
        signal,
        order: 'desc',
        limit: PAGE_EVENTS,
        ...(cursor !== null && { cursor }),
      }),
  });
}

/** Of one filter: another one is another component. */
export function LogView({ filter, opened, isPaused, onOpen, onPause, onClear }: Props) {
  const [log] = useState(() => newLog(filter));
  const [arrivals] = useState(() => new Arrivals());
  const state = useSyncExternalStore(log.subscribe, log.state);
  const isAway = useIsAway();
  // Rows do not move away from who reads them.
  const isHeld = isPaused || isAway || opened !== undefined;
  useEffect(() => {
    void log.start();
    return () => log.stop();
  }, [log]);
  useEvents((events) => {
    const fresh = log.take(events, isHeld);
    arrivals.add(
      fresh.map(({ occurredAt }) => Date.parse(occurredAt)),
      serviceNow(),
    );
  });
  useCatchUp(log, state.missed, isHeld);
  useEffect(() => {
    if (!isHeld) log.release();
  }, [log, isHeld]);
  const jump = useJump(log, state, opened);
  const open = (id: string | undefined) => {
    jump.settle(id);
    onOpen(id);
  };
  const showHeld = () => {
    log.release();
    onOpen(undefined);
    window.scrollTo({ top: 0 });
  };
  useKeys([
    { keys: 'p', does: isPaused ? 'Go on' : 'Pause', run: () => onPause(!isPaused) },
    ...(opened === undefined
      ? []
      : [{ keys: 'Escape', does: 'Fold the event', run: () => onOpen(undefined) }]),
  ]);
  if (state.phase === 'failed')
    return (
      <>
        <Failure error={state.error} retry={() => void log.start()} />
        {isFiltered(filter) && (
          <div className="px-4 pb-4">
            <Button onPress={onClear}>Show all events</Button>
          </div>
        )}
      </>
    );
  return (
    <>
      <div className="sticky top-(--bar) z-10 flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line bg-paper px-4 py-1">
        <LiveWord isPaused={isPaused} isHeld={isHeld} isWhole={state.missed === 'nothing'} />
        <Button onPress={() => onPause(!isPaused)}>{isPaused ? 'Go on' : 'Pause'}</Button>
        {state.held > 0 && (
          <Button kind="primary" onPress={showHeld}>
            Show {plural(state.held, 'new event')}
          </Button>
        )}
        <span className="ml-auto text-12 text-ink-3 max-sm:hidden">{count(state.count)} read</span>
        <RateView arrivals={arrivals} />
      </div>
      {jump.note}
      {state.phase === 'reading' ? (
        <Skeleton lines={12} />
      ) : state.count === 0 ? (
        <NoEvents filter={filter} onClear={onClear} />
      ) : (
        <EventRows log={log} filter={filter} state={state} opened={opened} goTo={jump.goTo} onOpen={open} />
      )}
    </>
  );
}

const WORDS = {
  live: ['ready', 'live'],
  held: ['waiting', 'live, held while you read'],
  paused: ['waiting', 'paused'],
  behind: ['pending', 'catching up'],
  away: ['pending', 'not connected'],
} as const;

/** `isWhole`: nothing that was missed is still to be read. */
function LiveWord({ isPaused, isHeld, isWhole }: { isPaused: boolean; isHeld: boolean; isWhole: boolean }) {
  const { state } = useLiveStatus();
  const isConnected = state === 'live' || state === 'behind';
  const connection = !isConnected ? 'away' : state === 'live' && isWhole ? 'live' : 'behind';
  const [status, word] = WORDS[isPaused ? 'paused' : connection === 'live' && isHeld ? 'held' : connection];
  return (
    <span role="status">
      <Status status={status} word={word} />
    </span>
  );
}

function NoEvents({ filter, onClear }: { filter: Filter; onClear: () => void }) {
  return (
    <Empty title={isFiltered(filter) ? 'No event matches' : 'No event is kept'}>
      <p>
        {isFiltered(filter)
          ? 'New ones are shown as they come.'
          : filter.isDirect
            ? 'Everything that changes in a project publishes an event. New ones are shown as they come.'
            : 'Everything that changes in an app publishes an event. Create an app, or change one, and see it here.'}
      </p>
      <p>
        <Kept />
      </p>
      {isFiltered(filter) && <Button onPress={onClear}>Show all events</Button>}
    </Empty>
  );
}

/** Reads what was missed each time that the live store is connected again, until it is read. */
function useCatchUp(log: EventLog, missed: LogState['missed'], isHeld: boolean): void {
  const isLive = useLiveStatus().state === 'live';
  const [wasLive, setWasLive] = useState(isLive);
  useEffect(() => {
    if (isLive && !wasLive) void log.catchUp(isHeld);
    if (!isLive && wasLive) log.mark();
    setWasLive(isLive);
  }, [log, isLive, wasLive, isHeld]);
  const isToRepeat = isLive && missed === 'failed';
  const repeat = useEffectEvent(() => void log.catchUp(isHeld));
  useEffect(() => {
    if (!isToRepeat) return;
    const timer = setTimeout(() => repeat(), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isToRepeat]);
}

function useIsAway(): boolean {
  return useSyncExternalStore(
    (changed) => {
      window.addEventListener('scroll', changed, { passive: true });
      return () => window.removeEventListener('scroll', changed);
    },
    () => window.scrollY > AWAY_PX,
  );
}
