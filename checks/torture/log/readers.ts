/**
 * Readers that follow a feed over reconnects, and remember each event that they were given, in the order in
 * which they were.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { Caller } from '../../harness/http.ts';
import type { Random } from '../../harness/random.ts';
import type { LoggedEvent } from '../lib/log-table.ts';
import type { Setup } from '../lib/part.ts';
import { feedsOf } from './world.ts';
import type { Feed, World } from './world.ts';

export interface Reader {
  name: string;
  feed: Feed;
  /** Ids in the order of their arrival, repeated ones too. */
  seen: string[];
  failures: string[];
  /** Drops the connection; the reader goes on from where it was, wherever it then comes. */
  reconnect(): void;
  running: Promise<void>;
}

interface Envelope {
  id: string;
  type: string;
  cursor: string;
}

const PAUSE_MS = 50;
/** On average between two pages: asking again at once is a request for nearly every event. */
const POLL_PAUSE_MS = 200;
/** Two heartbeats and a half: a stream that says nothing for so long is dead. */
const SILENCE_MS = 37_500;
/** Longer than between two heartbeats, which show a stream that nothing is missing. */
const CATCH_UP_LIMIT_MS = 20_000;
/** Ids are kept by every reader: one string for all of them. */
const interned = new Map<string, string>();

function intern(id: string): string {
  const known = interned.get(id);
  if (known !== undefined) return known;
  interned.set(id, id);
  return id;
}

/** The feed's end now, with its filters. */
async function headOf(caller: Caller, { path, query }: Feed): Promise<string> {
  return (await caller.call('GET', `${path}/head?${query}`)).body.cursor as string;
}

interface Start {
  name: string;
  feed: Feed;
  cursor: string;
  callers: readonly Caller[];
  random: Random;
  /** Aborted when nothing more is to be read. */
  signal: AbortSignal;
}

/** What polling and streaming readers share: a connection that is made again, somewhere, whenever it ends. */
function follow(
  { name, feed, callers, random, signal }: Start,
  attend: (caller: Caller, reader: Reader, signal: AbortSignal) => Promise<void>,
): Reader {
  let connection = new AbortController();
  const reader: Reader = {
    name: `${name} of ${feed.what}`,
    feed,
    seen: [],
    failures: [],
    reconnect: () => connection.abort(),
    running: Promise.resolve(),
  };
  async function run(): Promise<void> {
    while (!signal.aborted) {
      connection = new AbortController();
      try {
        await attend(random.pick(callers), reader, AbortSignal.any([connection.signal, signal]));
      } catch (error) {
        // Killed processes and dropped connections are what this is about; what the reader was given is
        // looked at at the end.
        if (isFault(error as Error)) reader.failures.push(`${reader.name}: ${(error as Error).message}`);
        await sleep(connection.signal.aborted ? 0 : PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
  reader.running = run();
  return reader;
}

class BadAnswer extends Error {}

/** What no killed process explains: silence, an error frame, any refusal but 503. */
const isFault = (error: Error) =>
  error instanceof BadAnswer || /no answer within|: (?!503)[345]\d\d$/.test(error.message);

/** Reads pages, and waits at the feed's end. */
function pollingReader(start: Start): Reader {
  let { cursor } = start;
  const random = start.random.fork('pauses');
  return follow(start, async (caller, reader, signal) => {
    for (;;) {
      const answer = await caller.send(
        'GET',
        `${start.feed.path}?${start.feed.query}&limit=500&waitSeconds=10&cursor=${encodeURIComponent(cursor)}`,
        { signal, limitMs: SILENCE_MS },
      );
      if (answer.status === 503) throw new Error('unavailable');
      if (answer.status !== 200) throw new BadAnswer(`${answer.status} ${answer.text.slice(0, 300)}`);
      const page = JSON.parse(answer.text) as { events: Envelope[]; nextCursor: string };
      for (const { id } of page.events) reader.seen.push(intern(id));
      cursor = page.nextCursor;
      await sleep(random.below(2 * POLL_PAUSE_MS), undefined, { signal });
    }
  });
}

/** Reads a stream; resumes behind the last frame that had an id, heartbeats too. */
function streamingReader(start: Start): Reader {
  let { cursor } = start;
  return follow(start, async (caller, reader, signal) => {
    const response = await caller.open(`${start.feed.path}/stream?${start.feed.query}`, {
      headers: { 'last-event-id': cursor },
      signal,
      limitMs: SILENCE_MS,
    });
    const parser = createParser({
      onEvent({ event: type, id, data }) {
        if (type === 'error') throw new BadAnswer(`an error frame: ${data}`);
        if (id === undefined) return;
        if (type !== 'heartbeat') {
          const event = JSON.parse(data) as Envelope;
          if (event.cursor !== id || event.type !== type)
            reader.failures.push(
              `${reader.name}: a frame ${type} ${id} with ${event.type} ${event.cursor} in it`,
            );
          reader.seen.push(intern(event.id));
        }
        cursor = id;
      },
    });
    for await (const part of response.setEncoding('utf8')) parser.feed(part as string);
  });
}

/** `count` readers of the world's feeds from now on, every other one polling; they end with the part. */
export async function startReaders(
  setup: Setup,
  callers: readonly Caller[],
  world: World,
  count: number,
): Promise<{ all: Reader[]; stop(): Promise<void> }> {
  const feeds = feedsOf(world);
  const stopped = new AbortController();
  const all: Reader[] = [];
  for (let n = 0; n < count; n++) {
    const feed = feeds[(n >> 1) % feeds.length]!;
    const cursor = await headOf(callers[0]!, feed);
    const start = {
      name: `reader ${n}`,
      feed,
      cursor,
      callers,
      random: setup.random.fork(`reader ${n}`),
      signal: stopped.signal,
    };
    all.push(
      n % 2 === 0
        ? pollingReader({ ...start, name: `polling ${start.name}` })
        : streamingReader({ ...start, name: `streaming ${start.name}` }),
    );
  }
  const stop = async () => {
    stopped.abort();
    await Promise.all(all.map((reader) => reader.running));
  };
  setup.atEnd(stop);
  return { all, stop };
}

/** Resolves when every reader has as many events as its feed, or nobody has got any further for a while. */
export async function caughtUp(
  readers: readonly Reader[],
  log: readonly LoggedEvent[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Map<Feed, number>();
  for (const { feed } of readers)
    if (!wanted.has(feed)) wanted.set(feed, log.filter((event) => feed.shows(event)).length);
  const given = () => readers.reduce((sum, { seen }) => sum + seen.length, 0);
  for (
    let before = given(), since = Date.now();
    Date.now() - since < CATCH_UP_LIMIT_MS;
    await sleep(50, undefined, { signal })
  ) {
    if (readers.every((reader) => reader.seen.length >= wanted.get(reader.feed)!)) return;
    if (given() === before) continue;
    before = given();
    since = Date.now();
  }
}
