import { HeadraceError } from '@headrace/client';
import type { EventPage } from '@headrace/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventOf } from '../../live/event.fixture.ts';
import { EventLog, MOST_HELD, MOST_NEWER } from './event-log.ts';
import type { AnyEvent, Filter } from './filter.ts';

const ALL: Filter = { isDirect: false, appId: undefined, threadId: undefined, runId: undefined, types: [] };
const events = (from: number, to: number): AnyEvent[] =>
  Array.from({ length: to - from + 1 }, (_, i) => eventOf(from + i));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A service whose log is these events; pages of ten, newest first. */
function newService(published: AnyEvent[]) {
  const service = {
    published,
    reads: 0,
    fault: null as Error | null,
    async read(cursor: string | null): Promise<EventPage<AnyEvent>> {
      service.reads++;
      if (service.fault) throw service.fault;
      const older = service.published
        .filter(({ sequence }) => cursor === null || Number(sequence) < Number(cursor))
        .toReversed();
      const page = older.slice(0, 10);
      return {
        events: page,
        nextCursor: page.at(-1)?.sequence ?? cursor ?? '0',
        hasMore: older.length > page.length,
      };
    },
  };
  return service;
}

async function opened(published: AnyEvent[], filter = ALL) {
  const service = newService(published);
  const log = new EventLog({ filter, feed: { appId: 'prj_1' }, liveFeed: {}, read: service.read });
  await log.start();
  return { service, log };
}

const shownBy = (log: EventLog) =>
  Array.from({ length: log.state().count }, (_, i) => Number(log.at(i)!.event.sequence));
const settle = () => vi.advanceTimersByTime(1_000);

describe('pages', () => {
  test('the newest first, then back to the oldest, each event once', async () => {
    const { service, log } = await opened(events(1, 25));
    expect(shownBy(log)).toEqual([25, 24, 23, 22, 21, 20, 19, 18, 17, 16]);
    expect(log.state()).toMatchObject({ phase: 'shown', end: 'more' });
    await log.readOlder();
    await log.readOlder();
    expect(shownBy(log)).toEqual(events(1, 25).map((_, i) => 25 - i));
    expect(log.state().end).toBe('whole');
    await log.readOlder();
    expect(service.reads).toBe(3);
    expect([log.indexOf('evt_25'), log.indexOf('evt_1'), log.indexOf('evt_0')]).toEqual([0, 24, -1]);
  });

  test('a first read that fails can be tried again', async () => {
    const service = newService(events(1, 3));
    service.fault = new Error('away');
    const log = new EventLog({ filter: ALL, feed: {}, liveFeed: {}, read: service.read });
    await log.start();
    expect(log.state()).toMatchObject({ phase: 'failed', error: service.fault });
    service.fault = null;
    await log.start();
    expect(shownBy(log)).toEqual([3, 2, 1]);
  });

  test('what is older may fail, and be kept no more', async () => {
    const { service, log } = await opened(events(1, 15));
    service.fault = new Error('away');
    await log.readOlder();
    expect(log.state()).toMatchObject({ olderError: service.fault, end: 'more', isReadingOlder: false });
    service.fault = Object.assign(Object.create(HeadraceError.prototype) as HeadraceError, { status: 410 });
    await log.readOlder();
    expect(log.state()).toMatchObject({ olderError: null, end: 'expired', count: 10 });
  });
});

describe('what comes', () => {
  test('is put before the others, each once, if it matches', async () => {
    const { log } = await opened(events(1, 3), { ...ALL, types: ['run.running'] });
    const other = eventOf(5, { type: 'run.failed' });
    const direct = { ...eventOf(6), appId: undefined } as unknown as AnyEvent;
    expect(log.take([...events(2, 4), other, direct], false).map(({ id }) => id)).toEqual(['evt_4']);
    settle();
    expect(shownBy(log)).toEqual([4, 3, 2, 1]);
    // Its cursor is one of the feed without filters.
    expect([log.at(0)!.feed, log.at(1)!.feed]).toEqual([{}, { appId: 'prj_1' }]);
  });

  test('while the first page is read is in it, or after it', async () => {
    const service = newService(events(1, 12));
    const log = new EventLog({ filter: ALL, feed: {}, liveFeed: {}, read: service.read });
    const started = log.start();
    log.take(events(11, 13), false);
    await started;
    expect(shownBy(log)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  });

  test('is held and counted until it is asked for', async () => {
    const { log } = await opened(events(1, 2));
    log.take(events(3, 5), true);
    settle();
    expect(log.state()).toMatchObject({ count: 2, held: 3 });
    log.take(events(4, 6), true);
    settle();
    expect(log.state().held).toBe(4);
    log.release();
    expect(shownBy(log)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(log.state().held).toBe(0);
  });

  test('too many held ones are let go, and read again', async () => {
    const { service, log } = await opened(events(1, 2));
    service.published = events(1, MOST_HELD + 3);
    log.take(events(3, MOST_HELD + 3), true);
    settle();
    expect(log.state().held).toBe(MOST_HELD + 1);
    log.release();
    await vi.waitFor(() => expect(log.state()).toMatchObject({ phase: 'shown', held: 0, count: 10 }));
    expect(shownBy(log)[0]).toBe(MOST_HELD + 3);
  });

  test('beyond too many held ones, nothing is kept of each, and none is read', async () => {
    const { service, log } = await opened(events(1, 2));
    log.take(events(3, MOST_HELD + 3), true);
    const [late] = log.take([eventOf(MOST_HELD + 4)], true);
    // One that is kept would be known.
    expect(log.take([late!], true)).toEqual([late]);
    const before = service.reads;
    await log.catchUp(true);
    expect([service.reads, log.state().missed]).toEqual([before, 'nothing']);
  });

  test('an open page keeps so many, and says that it let others go', async () => {
    const { log } = await opened(events(1, 15));
    log.take(events(16, MOST_NEWER + 16), false);
    settle();
    expect(log.state()).toMatchObject({ count: MOST_NEWER / 2, end: 'cut' });
    expect(log.at(0)!.event.id).toBe(`evt_${MOST_NEWER + 16}`);
    expect(log.indexOf('evt_15')).toBe(-1);
  });

  test('is told to the page a few times a second, however often it comes', async () => {
    const { log } = await opened([]);
    const changed = vi.fn<() => void>();
    log.subscribe(changed);
    for (let n = 1; n <= 500; n++) log.take([eventOf(n)], false);
    expect(changed).not.toHaveBeenCalled();
    settle();
    expect(changed).toHaveBeenCalledOnce();
    expect(log.state().count).toBe(500);
  });
});

describe('what was missed', () => {
  test('is read, and stands in order with what came since', async () => {
    const { service, log } = await opened(events(1, 5));
    service.published = events(1, 22);
    log.take(events(21, 22), false);
    await log.catchUp(false);
    settle();
    expect(shownBy(log)).toEqual(events(1, 22).map((_, i) => 22 - i));
    // The next time, only what came since then is read.
    log.mark();
    service.published = events(1, 24);
    const before = service.reads;
    await log.catchUp(true);
    settle();
    expect([log.state().held, service.reads - before]).toEqual([2, 1]);
  });

  test('and could not be read stays missing until it is read, however often the connection is lost', async () => {
    const { service, log } = await opened(events(1, 5));
    log.mark();
    service.published = events(1, 8);
    service.fault = new Error('away');
    await log.catchUp(false);
    expect(log.state().missed).toBe('failed');
    log.take(events(8, 8), false);
    // Lost again: 6 and 7 are missing still.
    log.mark();
    service.published = events(1, 30);
    log.take(events(9, 30), false);
    service.fault = null;
    await log.catchUp(false);
    settle();
    expect(shownBy(log)).toEqual(events(1, 30).map((_, i) => 30 - i));
    expect(log.state().missed).toBe('nothing');
  });

  test('is read again from where it was, if the connection is lost meanwhile', async () => {
    const { service, log } = await opened(events(1, 5));
    service.published = events(1, 20);
    const first = log.catchUp(false);
    log.take(events(20, 20), false);
    log.mark();
    service.published = events(1, 40);
    const second = log.catchUp(false);
    log.take(events(40, 40), false);
    await Promise.all([first, second]);
    settle();
    expect(shownBy(log)).toEqual(events(1, 40).map((_, i) => 40 - i));
  });

  test('while the first page is read is read after it', async () => {
    const service = newService(events(1, 5));
    const log = new EventLog({ filter: ALL, feed: {}, liveFeed: {}, read: service.read });
    const started = log.start();
    service.published = events(1, 8);
    // Connected: the live store begins after 7.
    const caughtUp = log.catchUp(false);
    log.take(events(8, 8), false);
    await Promise.all([started, caughtUp]);
    settle();
    expect(shownBy(log)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('and is held stands in order with what came since', async () => {
    const { service, log } = await opened(events(1, 5));
    service.published = events(1, 12);
    log.take(events(11, 12), true);
    await log.catchUp(true);
    log.release();
    expect(shownBy(log)).toEqual(events(1, 12).map((_, i) => 12 - i));
  });

  test('is too much: the log is read again', async () => {
    const { service, log } = await opened(events(1, 5));
    service.published = events(1, 200);
    await log.catchUp(false);
    settle();
    expect(shownBy(log)).toEqual([200, 199, 198, 197, 196, 195, 194, 193, 192, 191]);
  });
});
