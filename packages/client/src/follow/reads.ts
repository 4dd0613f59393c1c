/** What a follower reads of a thread. Like the stream, reads wait for the service without end. */
import { ONE_ATTEMPT, persistently } from '../events/patience.ts';
import type { PatienceOptions } from '../events/patience.ts';
import { jsonWith, segmentOf } from '../http.ts';
import type { Http, Query } from '../http.ts';
import type { Approval, Message, Run, Thread, Tool } from '../generated/types.ts';

/** A thread of an app, or, without `appId`, of the Direct API. */
export interface ThreadAddress {
  appId?: string;
  threadId: string;
}

export class ThreadReads {
  readonly #http: Http;
  readonly #root: string;
  readonly #options: PatienceOptions;

  constructor(http: Http, { appId, threadId }: ThreadAddress, options: PatienceOptions) {
    const app = appId === undefined ? '/api' : `/api/platform/v1/apps/${segmentOf(appId, 'appId')}`;
    this.#http = http;
    this.#root = `${app}/threads/${segmentOf(threadId, 'threadId')}`;
    this.#options = options;
  }

  async thread(): Promise<Thread> {
    return (await this.#get<{ thread: Thread }>('', 'thread')).thread;
  }

  async run(id: string): Promise<Run> {
    return (await this.#get<{ run: Run }>(`/runs/${id}`, 'run')).run;
  }

  /** Newest first. */
  runs(): AsyncGenerator<Run[]> {
    return this.#pages('/runs', 'runs');
  }

  /** Newest first. */
  approvals(): AsyncGenerator<Approval[]> {
    return this.#pages('/approvals', 'approvals');
  }

  messages(order: 'asc' | 'desc', limit?: number): AsyncGenerator<Message[]> {
    return this.#pages('/messages', 'messages', { order, limit });
  }

  tools(runId: string, order: 'asc' | 'desc', limit?: number): AsyncGenerator<Tool[]> {
    return this.#pages(`/runs/${runId}/tools`, 'tools', { order, limit });
  }

  async *#pages<T>(path: string, plural: string, query: Query = {}): AsyncGenerator<T[]> {
    for (let cursor: string | undefined; ;) {
      const page = await this.#get<Record<string, T[]> & { nextCursor: string | null }>(path, plural, {
        ...query,
        cursor,
      });
      yield page[plural]!;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }

  async #get<T>(path: string, member: string, query: Query = {}): Promise<T> {
    const { signal } = this.#options;
    const request = { method: 'GET', path: this.#root + path, query, signal, ...ONE_ATTEMPT };
    const { data } = await persistently(this.#options, () => this.#http.send(request, jsonWith<T>(member)));
    return data;
  }
}
