/**
 * One connection of a stream. It reads only on request: what a slow consumer has not taken waits in the
 * service, not here.
 */
import { HeadraceError } from '../errors.ts';
import type { Http, Query } from '../http.ts';
import { FrameParser } from './frames.ts';
import type { Frame } from './frames.ts';

export interface ConnectionRequest {
  path: string;
  query: Query;
  cursor: string;
  /** The longest wait for the answer, and then for bytes. */
  silenceMs: number;
  signal?: AbortSignal | undefined;
}

export class Connection {
  readonly #silenceMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = new AbortController();
  readonly #parser = new FrameParser();
  readonly #onAbort = () => this.#end(this.#signal!.reason);
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  /** Why this side ended the connection. */
  #reason: unknown = null;

  private constructor({ silenceMs, signal }: ConnectionRequest) {
    this.#silenceMs = silenceMs;
    this.#signal = signal;
    // A listener, removed at the end: AbortSignal.any would keep something for each past connection.
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  static async open(http: Http, request: ConnectionRequest): Promise<Connection> {
    request.signal?.throwIfAborted();
    const connection = new Connection(request);
    try {
      await connection.#open(http, request);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #open(http: Http, { path, query, cursor }: ConnectionRequest): Promise<void> {
    const response = await this.#unlessSilent(
      http.open({
        method: 'GET',
        path,
        query,
        attempts: 1,
        signal: this.#abort.signal,
        headers: { accept: 'text/event-stream', 'last-event-id': cursor },
      }),
    );
    this.#reader = response.body?.getReader() ?? null;
    const type = response.headers.get('content-type');
    if (this.#reader && type?.startsWith('text/event-stream')) return;
    throw new HeadraceError(0, 'invalid_response', `The answer is ${type}, not a stream.`);
  }

  /** The frames that have arrived; null if the service has ended the stream. Throws if the connection is lost. */
  async read(): Promise<Frame[] | null> {
    const { done, value } = await this.#unlessSilent(this.#reader!.read());
    return done ? null : this.#parser.push(value);
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#end(new Error('the reader has ended'));
  }

  async #unlessSilent<T>(promise: Promise<T>): Promise<T> {
    const silent = () => this.#end(new Error(`nothing came for ${this.#silenceMs / 1000} s`));
    const timer = setTimeout(silent, this.#silenceMs);
    try {
      const value = await promise;
      if (this.#reason === null) return value;
    } catch (error) {
      throw this.#reason ?? error;
    } finally {
      clearTimeout(timer);
    }
    throw this.#reason;
  }

  #end(reason: unknown): void {
    this.#reason ??= reason;
    this.#abort.abort(reason);
    // This ends a pending read, whatever kind of body this is.
    void this.#reader?.cancel().catch(() => {});
  }
}
