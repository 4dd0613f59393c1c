/**
 * The state that a process's streams and long polls share: the tail of the log, the drafts, cached frames, a
 * bound on replays, checks of access.
 */
import type { ServerResponse } from 'node:http';
import type { PoolConfig } from 'pg';
import { onAccessChanged, recheck } from '../accounts/index.ts';
import type { Principal } from '../http/principal.ts';
import type { Context } from '../context.ts';
import type { EventRow } from '../db/schema.ts';
import { ApiError } from '../http/errors.ts';
import { retryHeaders } from '../http/rate-limit.ts';
import { openSse } from '../http/sse.ts';
import { cursorExpired } from './cursor.ts';
import type { Binding } from './cursor.ts';
import { startDraftFeed } from './drafts.ts';
import type { DraftFeed } from './drafts.ts';
import type { RunnerOf } from './follow-draft.ts';
import type { EventFilter } from './filter.ts';
import { limitConcurrency } from '../limit-concurrency.ts';
import { readEvents } from './store.ts';
import type { LogPage, Position } from './store.ts';
import { EventStream } from './stream.ts';
import type { StreamHost, StreamRequest } from './stream.ts';
import { startTail } from './tail.ts';
import type { Tail } from './tail.ts';
import { Watch } from './watch.ts';

const HEARTBEAT_MS = 15_000;
/**
 * Replays that read at the same time: after a restart all readers come back at once, and requests need
 * connections too.
 */
const REPLAYS = 6;
const CHECKS = 8;
/**
 * Open streams and waiting pages of a process, 25 KiB each; further readers are asked to come back, to this
 * process or another.
 */
const READERS = 10_000;
const RETRY_SECONDS = 5;

declare module '../context.ts' {
  interface Context {
    /** Serves open streams and long polls; it reads the log where the API runs. */
    events: EventHub;
  }
}

type Deps = Pick<Context, 'db' | 'bus' | 'log' | 'config' | 'metrics' | 'secretKey' | 'shutdown'>;

export class EventHub implements StreamHost {
  /** For streams opened from now on; tests shorten it. */
  heartbeatMs = HEARTBEAT_MS;
  /** How many streams and waiting pages there may be; tests lower it. */
  maxReaders = READERS;
  readonly retentionSeconds: number;
  readonly secretKey: Buffer;
  readonly log: Context['log'];
  readonly #ctx: Deps;
  #tail: Tail | null = null;
  #draftFeed: DraftFeed | null = null;
  readonly #streams = new Set<EventStream>();
  readonly #watches = new Set<Watch>();
  readonly #frames = new WeakMap<EventRow, Map<string, string>>();
  readonly #inReplay = limitConcurrency(REPLAYS);
  readonly #inCheck = limitConcurrency(CHECKS);

  constructor(ctx: Deps) {
    this.#ctx = ctx;
    this.retentionSeconds = ctx.config.eventRetentionSeconds;
    this.secretKey = ctx.secretKey;
    this.log = ctx.log;
  }

  /** Begins to read; a process without the API never does. Ends with `ctx.shutdown`. `runnerOf`: where drafts are. */
  async start(connection: PoolConfig, runnerOf: RunnerOf): Promise<void> {
    const tail = await startTail(this.#ctx, connection, () => this.#endGeneration());
    const drafts = startDraftFeed(this.#ctx, tail, runnerOf);
    this.#tail = tail;
    this.#draftFeed = drafts;
    this.#ctx.shutdown.addEventListener(
      'abort',
      () => {
        tail.stop();
        drafts.stop();
        for (const stream of this.#streams) stream.end();
      },
      { once: true },
    );
  }

  /** Sequences are given again: no reader may go on as if nothing had happened. */
  #endGeneration(): void {
    for (const stream of this.#streams) stream.end(cursorExpired());
    for (const watch of this.#watches) watch.wake();
  }

  /** The caller's access as of now, when its turn comes; null when it has ended. */
  recheck(principal: Principal): Promise<Principal | null> {
    return this.#inCheck(() => recheck(this.#ctx, principal));
  }

  onAccessChanged(principal: Principal, listener: () => void): () => void {
    return onAccessChanged(this.#ctx, principal, listener);
  }

  get drafts(): DraftFeed {
    return this.#draftFeed!;
  }

  /** Of the log, as the tail saw it last. */
  get generation(): number {
    return this.#tail!.generation();
  }

  tailPosition(): Position {
    return this.#tail!.position();
  }

  /** One page of a replay, when its turn comes. */
  read(filter: EventFilter, after: Position, limit: number): Promise<LogPage> {
    const { retentionSeconds } = this;
    return this.#inReplay(() => readEvents(this.#ctx.db, { filter, after, limit, retentionSeconds }));
  }

  /** The frame of an event for all streams of one binding, made once. */
  frameOf(event: EventRow, binding: Binding, make: () => string): string {
    const key = `${binding.filter}${binding.scope ?? ''}`;
    const frames = this.#frames.get(event) ?? new Map<string, string>();
    this.#frames.set(event, frames);
    const frame = frames.get(key) ?? make();
    frames.set(key, frame);
    return frame;
  }

  register(stream: EventStream): () => void {
    this.#streams.add(stream);
    return () => {
      this.#streams.delete(stream);
    };
  }

  /** Open streams of this process. */
  streamCount(): number {
    return this.#streams.size;
  }

  /** The same with the pages that wait. */
  readerCount(): number {
    return this.#watches.size;
  }

  /**
   * Subscribes before the caller reads anything, so that nothing published since is missed. Call `done` on it
   * when no stream or wait follows. Throws `unavailable` (503) where this process has as many readers as it
   * takes.
   */
  watch(): Watch {
    if (this.#watches.size >= this.maxReaders)
      throw new ApiError(
        'unavailable',
        'Too many streams and waiting requests are open. Retry in a moment.',
        { headers: retryHeaders(RETRY_SECONDS) },
      );
    const watch = new Watch(this.#tail!, () => {
      this.#watches.delete(watch);
    });
    this.#watches.add(watch);
    return watch;
  }

  /** Answers with the stream; it lives until its reader or its access is gone. */
  stream(
    response: ServerResponse,
    headers: Record<string, string>,
    request: StreamRequest,
    watch: Watch,
  ): void {
    const connection = openSse(response, headers);
    const stream = new EventStream(this, connection, request, (listener) => watch.handOver(listener));
    if (this.#ctx.shutdown.aborted) stream.end();
  }
}
