/** The answers of the operations of all feeds: a page, the head, a stream. */
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { authorize } from '../http/authorize.ts';
import { ApiError, invalid } from '../http/errors.ts';
import type { Access, Reply } from '../http/operation.ts';
import { Ok, Text } from '../http/schemas.ts';
import { bindingOf, openPosition, requireGeneration, requireRetained, sealPosition } from './cursor.ts';
import type { Binding } from './cursor.ts';
import { openFeed } from './feeds.ts';
import type { Feed, FeedCall, FeedName } from './feeds.ts';
import { matches } from './filter.ts';
import { readEnd, readEvents } from './store.ts';
import type { LogPage, Position } from './store.ts';
import { eventView, positionOf } from './view.ts';

const DEFAULT_LIMIT = 100;

/** Every feed takes the same permission. */
export const FEED_ACCESS: Access = { permissions: ['thread:read'] };

export const PageOf = <S extends TSchema>(event: S) =>
  Type.Object({
    ok: Type.Literal(true),
    events: Type.Array(event),
    nextCursor: Text('tYc1…', { description: 'Continue here; an empty page has it too.' }),
    hasMore: Type.Boolean(),
  });
export const Head = Ok({
  cursor: Text('tYc1…', { description: 'A cursor behind everything published so far.' }),
});
export const StreamAnswer = {
  description:
    'Server-sent events. `id` is the event’s cursor, `event` its type, `data` its JSON. A `heartbeat` ' +
    'every 15 seconds carries a cursor. With `threadId`: `draft` {threadId, messageId, runId, ' +
    'revision, content (the whole text so far, at most its first 100,000 characters)} and ' +
    '`draft.removed` {threadId, messageId}, without a cursor. `error` {code, message} before the ' +
    'service ends a stream whose scope changed. 503 with `Retry-After` when the process has reached ' +
    'its limit of open streams and waiting requests (10,000).',
  content: {
    'text/event-stream': {
      schema: { type: 'string' },
      example: 'id: tYc1\nevent: run.completed\ndata: {"id":"evt_01k9x3v5e8f7arh2m4t6w8y0zb"}\n\n',
    },
  },
};

async function readPage(call: FeedCall, feed: Feed, after: Position | null): Promise<LogPage> {
  const { ctx, query } = call;
  const retentionSeconds = ctx.config.eventRetentionSeconds;
  const limit = (query.limit ?? DEFAULT_LIMIT) + 1;
  const { order } = query;
  const page = await readEvents(ctx.db, { filter: feed.filter, after, order, limit, retentionSeconds });
  if (after) {
    requireGeneration(feed.binding, page.end);
    requireRetained(after, page.end, retentionSeconds);
  }
  return page;
}

const accessEnded = () =>
  new ApiError('unauthorized', 'The access of this key or session ended while the request waited.');

/** Answers a page of the log, read from its end towards its start if `order` is `desc`. */
export function answerPage(call: FeedCall, name: FeedName): Promise<Reply> {
  return call.query.order === 'desc' ? answerBackwards(call, name) : answerForwards(call, name);
}

/** Nothing is ever added after a cursor of this order, so there is nothing to wait for. */
async function answerBackwards(call: FeedCall, name: FeedName): Promise<Reply> {
  const { ctx, query } = call;
  if (query.waitSeconds !== undefined)
    throw invalid({ path: '/query/waitSeconds', message: 'must be omitted if order is desc' });
  const feed = await openFeed(call, name);
  const backwards = bindingOf(feed.filter, ctx.events.generation, 'desc');
  const after = query.cursor === undefined ? null : openPosition(ctx.secretKey, backwards, query.cursor);
  const page = await readPage(call, feed, after);
  // An empty page ends where it began: from the log's end, the list would start over.
  return pageReply(call, feed, { ...page, end: { ...page.end, ...after } }, backwards);
}

/**
 * One page behind the cursor; with `waitSeconds` an empty one waits for the first event, or the service's
 * end.
 */
async function answerForwards(call: FeedCall, name: FeedName): Promise<Reply> {
  const deadline = Date.now() + (call.query.waitSeconds ?? 0) * 1000;
  const watch = call.query.waitSeconds ? call.ctx.events.watch() : null;
  try {
    for (;;) {
      // Listen first, then read: a change in between would otherwise be noticed only when the wait is over.
      const changed = new AbortController();
      const stop = watch ? call.ctx.events.onAccessChanged(call.principal, () => changed.abort()) : () => {};
      try {
        const now = watch ? await rechecked(call) : call;
        const feed = await openFeed(now, name);
        const after =
          now.query.cursor === undefined
            ? null
            : openPosition(now.ctx.secretKey, feed.binding, now.query.cursor);
        const page = await readPage(now, feed, after);
        if (!watch || page.rows.length || Date.now() >= deadline || call.signal.aborted)
          return pageReply(now, feed, page, feed.binding);
        await watch.first(
          (event) => matches(feed.filter, event),
          deadline,
          AbortSignal.any([call.signal, changed.signal]),
        );
      } finally {
        stop();
      }
    }
  } finally {
    watch?.done();
  }
}

/**
 * The call as its caller may make it now: half a minute is long enough for a key to be revoked or narrowed.
 */
async function rechecked(call: FeedCall): Promise<FeedCall> {
  const principal = call.signal.aborted ? call.principal : await call.ctx.events.recheck(call.principal);
  if (!principal) throw accessEnded();
  authorize(FEED_ACCESS, principal, call.api, call.params);
  return { ...call, principal };
}

/** `next` is what the page's cursor is bound to; an event's cursor is always bound to the feed. */
function pageReply({ ctx, query }: FeedCall, feed: Feed, page: LogPage, next: Binding): Reply {
  const { generation } = page.end;
  const shown = page.rows.slice(0, query.limit ?? DEFAULT_LIMIT);
  const last = shown.at(-1);
  return {
    status: 200,
    body: {
      ok: true,
      events: shown.map((event) => eventView(event, ctx.secretKey, { ...feed.binding, generation })),
      nextCursor: sealPosition(ctx.secretKey, { ...next, generation }, last ? positionOf(last) : page.end),
      hasMore: page.rows.length > shown.length,
    },
  };
}

export async function answerHead(call: FeedCall, name: FeedName): Promise<Reply> {
  const { binding } = await openFeed(call, name);
  const end = await readEnd(call.ctx.db);
  const { generation } = end;
  return {
    status: 200,
    body: { ok: true, cursor: sealPosition(call.ctx.secretKey, { ...binding, generation }, end) },
  };
}

/** Opens the stream. What is wrong with it is answered as for any other call. */
export async function answerStream(call: FeedCall, name: FeedName): Promise<Reply> {
  const { ctx, principal, headers, api, params } = call;
  // Before the app is loaded: a deletion from here on still reaches this stream.
  const watch = ctx.events.watch();
  try {
    const { filter, binding } = await openFeed(call, name);
    const lastEventId = headers['last-event-id'];
    const cursor = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : call.query.cursor;
    const end = await readEnd(ctx.db);
    const position = cursor === undefined ? end : openPosition(ctx.secretKey, binding, cursor);
    requireGeneration(binding, end);
    requireRetained(position, end, ctx.config.eventRetentionSeconds);
    const allows = (now: typeof principal) => authorize(FEED_ACCESS, now, api, params);
    return {
      hijack: (response, rateHeaders) =>
        ctx.events.stream(response, rateHeaders, { filter, binding, position, principal, allows }, watch),
    };
  } catch (error) {
    watch.done();
    throw error;
  }
}
