/** Everything that the event stream brings of one app, from before the app was made. */
import type { Client, HeadraceEvent } from '@headrace/client';

export interface Recorder {
  events: readonly HeadraceEvent[];
  /** Calls back with each event of the app. */
  onEvent(listener: (event: HeadraceEvent) => void): void;
  watchApp(appId: string): void;
  /**
   * Resolves once an event with that id was seen; rejects after ten seconds, or with what ended the stream.
   */
  seen(eventId: string): Promise<void>;
  stop(): Promise<void>;
}

const SEEN_LIMIT_MS = 10_000;

export async function startRecorder(client: Client): Promise<Recorder> {
  const all: HeadraceEvent[] = [];
  const listeners = new Set<(event: HeadraceEvent) => void>();
  const abort = new AbortController();
  let app: string | null = null;
  const { signal } = abort;
  // From here on, nothing is missed.
  const cursor = await client.events.head({});
  const ended = (async () => {
    for await (const item of client.events.stream({}, { cursor, signal })) {
      if (item.kind !== 'event') continue;
      all.push(item.event);
      if (item.event.appId === app) for (const listener of listeners) listener(item.event);
    }
  })();
  ended.catch(() => {});

  return {
    get events() {
      return all.filter((event) => event.appId === app);
    },
    onEvent: (listener) => void listeners.add(listener),
    watchApp: (appId) => {
      app = appId;
    },
    async seen(eventId) {
      if (all.some((event) => event.id === eventId)) return;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error('The event stream did not bring what the replay has.')),
          SEEN_LIMIT_MS,
        );
        listeners.add((event) => {
          if (event.id !== eventId) return;
          clearTimeout(timer);
          resolve();
        });
        ended.catch(reject);
      });
    },
    async stop() {
      abort.abort();
      await ended.catch(() => {});
    },
  };
}
