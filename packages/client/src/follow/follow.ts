/**
 * One thread as a sequence of items to render: its history, then its changes. Events name what changed, and reads
 * fetch it. A read may be ahead of the events: an end waits for its event, so it never comes before what led to it,
 * and nothing is shown twice.
 */
import { captureHead } from '../events/feed.ts';
import { HeadraceError } from '../errors.ts';
import type { Draft } from '../events/drafts.ts';
import type { PatienceOptions } from '../events/patience.ts';
import { streamEvents } from '../events/stream.ts';
import type { StreamItem } from '../events/stream.ts';
import type { Http } from '../http.ts';
import type { HeadraceEvent, Run, Thread, Tool } from '../generated/types.ts';
import { historyOf, lastMessage, messagesBetween } from './history.ts';
import type { HistoryItem } from './history.ts';
import { ThreadReads } from './reads.ts';
import type { ThreadAddress } from './reads.ts';

/** An item replaces the earlier one with the same id; a message and its draft share an id. */
export type FollowItem =
  | HistoryItem
  | { kind: 'thread'; thread: Thread }
  | { kind: 'draft'; draft: Draft }
  /** The draft ended without a message. */
  | { kind: 'draft.removed'; threadId: string; messageId: string };

export interface FollowOptions extends PatienceOptions {
  /**
   * The sequence of the last message that the caller already shows: only later messages follow, and runs that had
   * not ended before it. `now`: only what is in progress. When omitted, everything.
   */
  from?: number | 'now';
  /** Continues when the thread has nothing to do, until the thread is deleted. */
  keepOpen?: boolean;
  /** A connection without data for this long is lost. Default 45,000: three heartbeats. */
  silenceMs?: number;
}

/** Ends when the thread has nothing to do or is deleted. Throws on abort, and when the key may no longer read. */
export async function* followThread(
  http: Http,
  address: ThreadAddress,
  { from, keepOpen = false, ...options }: FollowOptions = {},
): AsyncGenerator<FollowItem> {
  const { appId, threadId } = address;
  const feed = appId === undefined ? { direct: true as const, threadId } : { appId, threadId };
  // The cursor is older than the reads: changes in between arrive as events.
  const cursor = await captureHead(http, feed, options);
  const follower = new Follower(new ThreadReads(http, address, options));
  yield* follower.begin(from);
  if (follower.isIdle && !keepOpen) return;
  try {
    for await (const item of streamEvents(http, feed, { ...options, cursor })) {
      yield* follower.take(item);
      if (follower.isDeleted || (follower.isIdle && !keepOpen)) return;
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** A deleted thread's events may end before the event of its deletion. */
const isGone = (error: unknown) =>
  error instanceof HeadraceError && (error.code === 'thread_not_found' || error.code === 'app_not_found');

/** How much later an event may occur than the change that a later event is about. */
const CONCURRENT_MS = 60_000;
/** More than the tools of any run. */
const SHOWN = 10_000;
/** Tools per page; usually one of the last few has changed. */
const NEWEST_TOOLS = 20;

const isEnd = (status: Run['status']) =>
  status === 'completed' || status === 'failed' || status === 'cancelled';
const hasNothingToDo = (status: Thread['status']) =>
  status === 'ready' || status === 'failed' || status === 'archived';

class Follower {
  /** The thread's events up to here say that it has nothing to do. */
  isIdle = false;
  isDeleted = false;
  readonly #reads: ThreadReads;
  /** What was last shown of each item, by id: its status, or its version. */
  readonly #shown = new Map<string, string>();
  #lastSequence = -1;
  #endedSince = '';
  /** The page of tools that was read last. */
  #tools: Tool[] = [];

  constructor(reads: ThreadReads) {
    this.#reads = reads;
  }

  async *begin(from: number | 'now' | undefined): AsyncGenerator<FollowItem> {
    if (from !== undefined) {
      const last = await this.#lastMessage(from);
      this.#lastSequence = last?.sequence ?? -1;
      this.#endedSince = from === 'now' ? NEVER : (last?.createdAt ?? '');
    }
    yield* this.#catchUp();
  }

  async *take(item: StreamItem): AsyncGenerator<FollowItem> {
    if (item.kind === 'event') yield* this.#follow(item.event);
    else if (item.kind === 'reset') yield* this.#catchUp();
    else if (!this.#shown.has(item.kind === 'draft' ? item.draft.messageId : item.messageId)) yield item;
  }

  /** The last message that counts as shown. */
  async #lastMessage(from: number | 'now') {
    if (from === 'now') return lastMessage(this.#reads);
    for await (const page of this.#reads.messages('desc')) {
      const last = page.find(({ sequence }) => sequence <= from);
      if (last) return last;
    }
    return undefined;
  }

  /** Everything that was not shown yet. */
  async *#catchUp(): AsyncGenerator<FollowItem> {
    // Read this first: if the thread has nothing to do, everything else is read after that.
    const thread = await this.#reads.thread();
    this.isIdle = hasNothingToDo(thread.status);
    const range = { afterSequence: this.#lastSequence, endedSince: this.#endedSince };
    for await (const item of historyOf(this.#reads, range)) yield* this.#show(item);
    yield* this.#show({ kind: 'thread', thread });
  }

  async *#follow({ type, data, runId, occurredAt }: HeadraceEvent): AsyncGenerator<FollowItem> {
    const id = data.id;
    const status = data.status;
    this.#endedSince = new Date(Date.parse(occurredAt) - CONCURRENT_MS).toISOString();
    if (type === 'thread.deleted') this.isDeleted = true;
    else if (type === 'thread.updated') yield* this.#showThread(status as Thread['status']);
    else if (status !== undefined && this.#shown.get(id) === status) return;
    else if (type === 'message.persisted') yield* this.#showMessages(id);
    else if (type === 'tool.updated') yield* this.#showTool(runId!, id, status!);
    else if (type.startsWith('run.')) yield* this.#showRun(id, status as Run['status']);
    else if (type.startsWith('approval.')) yield* this.#showApproval(id);
  }

  async *#showThread(status: Thread['status']): AsyncGenerator<FollowItem> {
    const thread = await this.#reads.thread();
    // A different status belongs to a later event.
    if (thread.status !== status) return;
    const isIdle = hasNothingToDo(status);
    // Each event is one version: with versions in between, this is the state of a later event, and everything that
    // led to it must come before the end.
    if (isIdle && thread.version > Number(this.#shown.get(thread.id)) + 1) return yield* this.#catchUp();
    this.isIdle = isIdle;
    yield* this.#show({ kind: 'thread', thread });
  }

  async *#showMessages(id: string): AsyncGenerator<FollowItem> {
    if (this.#shown.has(id)) return;
    for await (const message of messagesBetween(this.#reads, this.#lastSequence, Infinity)) {
      yield* this.#show({ kind: 'message', message });
      if (message.id === id) return;
    }
  }

  async *#showTool(runId: string, id: string, status: string): AsyncGenerator<FollowItem> {
    const known = this.#tools.find((tool) => tool.id === id);
    if (known?.status === status) return yield* this.#show({ kind: 'tool', tool: known });
    for await (const page of this.#reads.tools(runId, 'desc', NEWEST_TOOLS)) {
      this.#tools = page;
      const tool = page.find((one) => one.id === id);
      if (tool) return yield* this.#show({ kind: 'tool', tool });
    }
  }

  async *#showRun(id: string, status: Run['status']): AsyncGenerator<FollowItem> {
    const run = await this.#reads.run(id);
    if (isEnd(run.status) === isEnd(status)) yield* this.#show({ kind: 'run', run });
  }

  async *#showApproval(id: string): AsyncGenerator<FollowItem> {
    for await (const page of this.#reads.approvals()) {
      const approval = page.find((one) => one.id === id);
      if (approval) return yield* this.#show({ kind: 'approval', approval });
    }
  }

  *#show(item: Exclude<FollowItem, { kind: 'draft' | 'draft.removed' }>): Generator<FollowItem> {
    const [id, state] = stateOf(item);
    if (this.#shown.get(id) === state) return;
    this.#shown.delete(id);
    this.#shown.set(id, state);
    if (this.#shown.size > SHOWN) this.#shown.delete(this.#shown.keys().next().value!);
    if (item.kind === 'message') this.#lastSequence = Math.max(this.#lastSequence, item.message.sequence);
    yield item;
  }
}

/** Later than any end. */
const NEVER = '9999';

function stateOf(item: Exclude<FollowItem, { kind: 'draft' | 'draft.removed' }>): [string, string] {
  if (item.kind === 'message') return [item.message.id, 'persisted'];
  if (item.kind === 'tool') return [item.tool.id, item.tool.status];
  if (item.kind === 'approval') return [item.approval.id, item.approval.status];
  if (item.kind === 'run') return [item.run.id, item.run.status];
  return [item.thread.id, String(item.thread.version)];
}
