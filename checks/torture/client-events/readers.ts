/** Readers that use the client as a customer does: two streams, and two views in a process that sometimes dies. */
import { createClient } from '../../../packages/client/src/index.ts';
import type { Client, Feed } from '../../../packages/client/src/index.ts';
import type { Random } from '../../harness/random.ts';
import type { LoggedEvent } from '../lib/log-table.ts';

export interface ClientReader {
  name: string;
  feed: { shows(event: LoggedEvent): boolean };
  /** Ids in order of arrival, including repeated ones. */
  seen: string[];
  connections: number;
  deaths: number;
  running: Promise<void>;
}

/** Less than a heartbeat, so that the reader also gives up quiet connections. */
const SILENCE_MS = 2_000;
/** One in this many events. */
const DEATHS = 400;

interface Start {
  base: string;
  key: string;
  random: Random;
  signal: AbortSignal;
}

export async function startReaders({ base, key, random, signal }: Start): Promise<ClientReader[]> {
  const client = createClient({ baseUrl: base, key });
  const feeds: [string, Feed, LoggedEvent['feed']][] = [
    ['all apps', {}, 'platform'],
    ['the Direct API', { direct: true }, 'direct'],
  ];
  const readers: ClientReader[] = [];
  for (const [what, feed, shown] of feeds)
    for (const follow of [readStream, readView]) {
      const reader: ClientReader = {
        name: `${follow === readStream ? 'a stream' : 'a view'} of ${what}`,
        feed: { shows: (event) => event.feed === shown },
        seen: [],
        connections: 0,
        deaths: 0,
        running: Promise.resolve(),
      };
      const cursor = await client.events.head(feed);
      reader.running = follow({ client, feed, cursor, reader, random: random.fork(reader.name), signal });
      readers.push(reader);
    }
  return readers;
}

interface Following {
  client: Client;
  feed: Feed;
  cursor: string;
  reader: ClientReader;
  random: Random;
  signal: AbortSignal;
}

const optionsOf = ({ reader, signal }: Following) => ({
  signal,
  silenceMs: SILENCE_MS,
  onState({ state }: { state: string }) {
    if (state === 'open') reader.connections++;
  },
});

async function readStream(following: Following): Promise<void> {
  const { client, feed, cursor, reader, signal } = following;
  try {
    for await (const item of client.events.stream(feed, { ...optionsOf(following), cursor })) {
      if (item.kind === 'event') reader.seen.push(item.event.id);
      if (item.kind === 'reset') throw new Error(`${reader.name} was reset: ${item.code}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

class Died extends Error {}

/** What is stored, cursor and events together, survives. */
async function readView(following: Following): Promise<void> {
  const { client, feed, reader, random, signal } = following;
  let stored = following.cursor;
  const die = () => {
    if (random.below(DEATHS) > 0) return;
    reader.deaths++;
    throw new Died();
  };
  while (!signal.aborted)
    await client.events
      .view(feed, {
        ...optionsOf(following),
        cursor: stored,
        load: () => Promise.reject(new Error(`${reader.name} was reset`)),
        apply({ id }, cursor) {
          die();
          reader.seen.push(id);
          stored = cursor;
          die();
        },
        save(cursor) {
          stored = cursor;
        },
      })
      .catch((error: unknown) => {
        if (!signal.aborted && !(error instanceof Died)) throw error;
      });
}
