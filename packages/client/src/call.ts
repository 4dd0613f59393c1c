/** Calls that are sent once, when the caller first asks for their result. */
import { HeadraceError, WaitTimeoutError } from './errors.ts';
import { limitOf, sleep } from './http.ts';
import type { Http, Read, Request } from './http.ts';
import type { CallOptions, DoneOptions, Page, ResponseInfo } from './options.ts';

/** The same calls without their first id. */
export type Bound<T> = {
  [K in keyof T]: T[K] extends (id: string, ...rest: infer A) => infer R ? (...rest: A) => R : never;
};

/** Nothing is sent before `await`, `then`, `withResponse` or `asResponse`. Throws HeadraceError. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #http: Http;
  readonly #request: Request;
  readonly #read: Read<T>;
  #sent: Promise<{ data: T; response: ResponseInfo }> | undefined;

  constructor(http: Http, request: Request, read: Read<T>) {
    this.#http = http;
    this.#request = request;
    this.#read = read;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- callers await a call like a promise
  then<A = T, B = never>(
    onData?: ((data: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.withResponse()
      .then(({ data }) => data)
      .then(onData, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(null, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then(null).finally(onEnd);
  }

  /** The result with the request id, the receipt, and the remaining rate limit. */
  withResponse(): Promise<{ data: T; response: ResponseInfo }> {
    this.#sent ??= this.#http.send(this.#request, this.#read);
    return this.#sent;
  }

  /** The successful response, unread; the caller reads or cancels its body. */
  asResponse(): Promise<Response> {
    return this.#http.open(this.#request);
  }
}

/**
 * `await` returns one page, with what else its answer says; `for await` yields every item of this page and all later
 * ones.
 */
export class ListCall<T, More = unknown> extends Call<Page<T> & More> implements AsyncIterable<T> {
  readonly #next: (cursor: string) => ListCall<T, More>;

  constructor(http: Http, request: Request, read: Read<Page<T> & More>) {
    super(http, request, read);
    this.#next = (cursor) => new ListCall(http, { ...request, query: { ...request.query, cursor } }, read);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    // oxlint-disable-next-line typescript/no-this-alias, unicorn/no-this-assignment -- it is the first page
    for (let call: ListCall<T, More> = this; ;) {
      const { items, nextCursor, hasMore } = await call;
      yield* items;
      if (!hasMore || nextCursor === null) return;
      call = this.#next(nextCursor);
    }
  }
}

/** Work that continues after the response. */
export interface Work<T, D> {
  what: string;
  /** From the answer; null if nothing was started. */
  of(answer: T): D | null;
  /** Reads it again; the service answers when it ends, or after that many seconds. */
  read(work: D, waitSeconds: number, options: CallOptions): Promise<D>;
  isEnded(work: D): boolean;
  timeoutMs: number;
}

/** How long the service holds a read: less than the 30 s that it allows, and than the usual limits of proxies. */
const WAIT_SECONDS = 25;
/** The pause between reads that the service does not hold. */
const PAUSE_MS = 250;
/** How much later than `waitSeconds` the service may answer. */
const GRACE_MS = 10_000;

export class WorkCall<T, D> extends Call<T> {
  readonly #work: Work<T, D>;

  constructor(http: Http, request: Request, read: Read<T>, work: Work<T, D>) {
    super(http, request, read);
    this.#work = work;
  }

  /**
   * Waits for the run, apply, build, setup or execution to end, whatever its outcome, or for a preview to be ready.
   * Throws WaitTimeoutError; the work itself continues.
   */
  async done({ signal, timeoutMs = this.#work.timeoutMs }: DoneOptions = {}): Promise<D> {
    const deadline = performance.now() + timeoutMs;
    let work = this.#work.of(await this.#within(timeoutMs, signal));
    if (work === null)
      throw new HeadraceError(0, 'invalid_request', `The call started no ${this.#work.what} to wait for.`);
    while (!this.#work.isEnded(work)) {
      signal?.throwIfAborted();
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new WaitTimeoutError(this.#work.what, timeoutMs);
      const since = performance.now();
      work = await this.#work.read(work, Math.min(WAIT_SECONDS, Math.ceil(leftMs / 1000)), {
        signal,
        timeoutMs: leftMs + GRACE_MS,
      });
      if (!this.#work.isEnded(work) && performance.now() - since < PAUSE_MS)
        await sleep(Math.min(PAUSE_MS, leftMs), signal);
    }
    return work;
  }

  /** The answer, unless the timeout or the signal ends the wait for it; the call itself continues. */
  async #within(timeoutMs: number, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const limit = limitOf(timeoutMs, signal);
    const end = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () =>
        reject(signal?.aborted ? (signal.reason as Error) : new WaitTimeoutError(this.#work.what, timeoutMs)),
      );
    });
    try {
      return await Promise.race([this, end]);
    } finally {
      limit.end();
    }
  }
}
