/** `headrace events` */
import { resolve } from 'node:path';
import { HeadraceError } from '@headrace/client';
import type { EventPage, Feed, ResetCode } from '@headrace/client';
import { Away } from '../core/away.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { atMostOne } from '../core/input.ts';
import { directThreadNamed, projectNamed } from '../core/ids.ts';
import { eventLine } from './line.ts';
import { SavedEvents } from './saved.ts';
import type { AnyEvent } from './saved.ts';

interface EventOptions {
  follow: boolean;
  'all-apps': boolean;
  thread: string | undefined;
  run: string | undefined;
  type: string[];
  since: string | undefined;
  save: string | undefined;
  direct: boolean;
  project: string | undefined;
  limit: number | undefined;
  last: number | undefined;
}

const PAGE = 500;

export async function showEvents(cli: Cli, options: EventOptions): Promise<void> {
  refuseContradictions(cli, options);
  const feed = await feedOf(cli, options);
  if (options.save !== undefined) await save(cli, feed, options);
  else if (cli.globals.json) await printDocument(cli, feed, options);
  else await print(cli, feed, options);
}

function refuseContradictions(cli: Cli, options: EventOptions): void {
  const { follow, save: file, direct, project, limit, last, since } = options;
  if (follow && cli.globals.json) throw usage('--follow prints no single document: use --jsonl.');
  if (follow && limit !== undefined) throw usage('--follow has no end, so it excludes --limit.');
  if (limit !== undefined && last !== undefined)
    throw usage('--limit takes the oldest, --last the newest: give one.');
  atMostOne(options, ['since', 'last']);
  if (project !== undefined && !direct)
    throw usage('--project restricts the events of projects: add --direct.');
  atMostOne(options, ['direct', 'all-apps']);
  if (file !== undefined && (cli.isJson || limit !== undefined || last !== undefined || since !== undefined))
    throw usage(
      '--save goes on where its file ends, and prints nothing: it excludes --json, --jsonl, --limit, --last and --since.',
    );
}

/** The app that is named or linked; without one, all apps. */
async function feedOf(cli: Cli, options: EventOptions): Promise<Feed> {
  const { thread, run: runId, type, direct, project } = options;
  const filters = { ...(runId !== undefined && { runId }), ...(type.length > 0 && { types: type }) };
  if (direct)
    return {
      direct: true,
      ...filters,
      ...(project !== undefined && { projectId: await projectNamed(cli, project) }),
      ...(thread !== undefined && { threadId: await directThreadNamed(cli, thread) }),
    };
  const appId = options['all-apps'] || cli.target.app === undefined ? undefined : await cli.appId();
  if (thread === undefined) return { ...filters, ...(appId !== undefined && { appId }) };
  const threadId = await (appId === undefined
    ? directThreadNamed(cli, thread)
    : cli.threadNamed(thread, appId));
  return { ...filters, threadId, ...(appId !== undefined && { appId }) };
}

/** Takes each event, once, in order. */
interface Sink {
  take(event: AnyEvent): Promise<void> | void;
  /** Everything that was there is taken. */
  rest(): void;
}

// Without a file.

function printing(cli: Cli): Sink {
  return {
    take: (event) =>
      cli.printPart(cli.isTerminal ? `${eventLine(event, cli.paint)}\n` : `${JSON.stringify(event)}\n`),
    rest: () => undefined,
  };
}

async function print(cli: Cli, feed: Feed, options: EventOptions): Promise<void> {
  const sink = printing(cli);
  if (options.last !== undefined) {
    const { events, cursor } = await newest(cli, feed, options.last);
    for (const event of events) await sink.take(event);
    if (options.follow) await follow(cli, feed, { cursor, sink });
    return;
  }
  await readAll(cli, feed, { sink, cursor: options.since, isFollowed: options.follow, limit: options.limit });
}

/** One document in the shape of the API. */
async function printDocument(cli: Cli, feed: Feed, { since, limit, last }: EventOptions): Promise<void> {
  if (last !== undefined) {
    const { events, cursor } = await newest(cli, feed, last);
    return cli.show({ events, nextCursor: cursor, hasMore: false }, () => '');
  }
  const events: AnyEvent[] = [];
  let page: EventPage | undefined;
  for await (page of pages(cli, feed, { cursor: since, limit })) events.push(...page.events);
  cli.show({ events, nextCursor: page!.nextCursor, hasMore: page!.hasMore }, () => '');
}

/** The newest events, the oldest of them first, and the cursor after them. */
async function newest(cli: Cli, feed: Feed, count: number): Promise<{ events: AnyEvent[]; cursor: string }> {
  const { signal } = cli;
  // Before the events: what is published in between follows.
  const head = await cli.client.events.head(feed, { signal });
  const events: AnyEvent[] = [];
  let page: EventPage | undefined;
  while (events.length < count && page?.hasMore !== false) {
    const limit = Math.min(PAGE, count - events.length);
    const cursor: string | undefined = page?.nextCursor;
    page = await cli.client.events.list(feed, {
      order: 'desc',
      limit,
      signal,
      ...(cursor !== undefined && { cursor }),
    });
    events.push(...page.events);
  }
  return { events: events.reverse(), cursor: events.at(-1)?.cursor ?? head };
}

interface Pages {
  cursor: string | undefined;
  limit?: number | undefined;
}

async function* pages(cli: Cli, feed: Feed, { cursor, limit = Infinity }: Pages): AsyncGenerator<EventPage> {
  let at = cursor;
  let left = limit;
  for (;;) {
    const page = await cli.client.events.list(feed, {
      limit: Math.min(PAGE, left),
      signal: cli.signal,
      ...(at !== undefined && { cursor: at }),
    });
    yield page;
    left -= page.events.length;
    at = page.nextCursor;
    if (!page.hasMore || left <= 0) return;
  }
}

interface Reading extends Pages {
  sink: Sink;
  isFollowed: boolean;
}

/** What is there, from the cursor or the oldest event that is kept, and with `isFollowed` what comes. */
async function readAll(cli: Cli, feed: Feed, { sink, cursor, isFollowed, limit }: Reading): Promise<void> {
  if (!isFollowed) {
    for await (const page of pages(cli, feed, { cursor, limit }))
      for (const event of page.events) await sink.take(event);
    return sink.rest();
  }
  if (cursor !== undefined) return follow(cli, feed, { cursor, sink });
  // The stream goes on after the first page; without a cursor, it would begin now.
  const first = () => cli.client.events.list(feed, { limit: PAGE, signal: cli.signal });
  const { events, nextCursor } = await new Away(cli).read(first, cli.signal);
  for (const event of events) await sink.take(event);
  return follow(cli, feed, { cursor: nextCursor, sink });
}

/** Until Ctrl-C, or the deletion of the app. A service that is away is waited for. */
async function follow(cli: Cli, feed: Feed, { cursor, sink }: { cursor: string; sink: Sink }): Promise<void> {
  const { onState } = new Away(cli);
  await cli.client.events.view(feed, {
    cursor,
    signal: cli.signal,
    onState,
    apply: (event) => sink.take(event),
    save: () => sink.rest(),
    load: (_, reason) => warnOfGap(cli, reason),
  });
  sink.rest();
}

const REASONS: Readonly<Record<ResetCode | 'start', string>> = {
  cursor_expired: 'the service no longer keeps the events after the last one here',
  cursor_scope_changed: 'the key may read other apps than before',
  start: 'the events begin here',
};

/** Also with --quiet: what was read is not all there was. */
function warnOfGap(cli: Cli, reason: ResetCode | 'start'): void {
  const text = `EVENTS ARE MISSING here: ${REASONS[reason]}. Going on with what comes now.`;
  cli.io.stderr.write(
    `${cli.paintTalk('red', 'headrace:')} ${text}\n  ${cli.paintTalk('dim', '→')} headrace events prints what is still kept\n`,
  );
}

// With a file.

async function save(cli: Cli, feed: Feed, { save: name, follow: isFollowed }: EventOptions): Promise<void> {
  const file = await SavedEvents.open(resolve(cli.io.cwd, name!));
  let count = 0;
  const from = file.last;
  const sink: Sink = {
    take(event) {
      file.append(event);
      count++;
    },
    rest: () => file.sync(),
  };
  try {
    if (from) cli.say(cli.paintTalk('dim', `${name} goes on after ${from.occurredAt}.`));
    await readAll(cli, feed, { sink, cursor: from?.cursor, isFollowed });
  } catch (error) {
    if (error instanceof HeadraceError && error.code === 'invalid_cursor')
      throw usage(`${name} has the events of another app, organization or filter.`, 'Name another file.');
    if (error instanceof HeadraceError && error.status === 410)
      throw new Fault(EXIT.notFound, `Events are missing after the last one in ${name}: ${error.message}`, {
        code: error.code,
        hint: 'Name another file, or add --follow, which goes on with what comes now.',
      });
    throw error;
  } finally {
    file.close();
    cli.say(`${count} events saved to ${name}`);
  }
}
