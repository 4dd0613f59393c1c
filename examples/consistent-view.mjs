/**
 * A consistent view of all apps and their threads, kept up to date from the event log by `@headrace/client`.
 *
 *     npm start                                                              # in one terminal; prints the address and, at the first start, the key
 *     HEADRACE_KEY=hrk_… node_modules/.bin/node examples/consistent-view.mjs # in another; HEADRACE_URL where it is not http://127.0.0.1:4400
 *
 * In a project of your own it runs with Node 20 or newer: `npm run client:pack` makes the tarball that you install there.
 *
 * Prints a line for each event, and the view as JSON when it is stopped (Ctrl-C). The client does all that makes the view exact:
 *
 *     1. head       a cursor that is behind everything published so far
 *     2. load       read what is to be shown; it may be newer than the cursor, never older
 *     3. apply      every event behind the cursor, once and in order; the line to the service may break at any time
 *     410           the cursor is too old, or the key reads other apps now: begin again with 1
 */
import { createClient, HeadraceError } from '@headrace/client';

const { HEADRACE_URL = 'http://127.0.0.1:4400', HEADRACE_KEY } = process.env;
if (!HEADRACE_KEY) {
  console.error('Set HEADRACE_KEY to a service key that has thread:read and project:read.');
  process.exit(2);
}
const headrace = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });

/** The events that change the view, of all apps. The filters are part of the cursor. */
const FEED = { types: ['platform.app.created', 'platform.app.updated', 'platform.app.deleted', 'platform.head.updated', 'thread.updated', 'thread.deleted'] };

/** The view: apps by id, each with its threads by id. */
let view = new Map();
/** The view has all events up to here. A view in a database keeps it in the same transaction. */
let cursor;

const shownApp = (app, threads) => ({ name: app.name, externalId: app.externalId, headSourceId: app.headSourceId, version: app.version, threads });
const shownThread = (thread) => ({ title: thread.title, status: thread.status, version: thread.version });

/** What a call reads; undefined where that is gone: an event says so too. */
const ifThere = (call) => call.catch((error) => {
  if (error.status === 404 || error.status === 403) return undefined;
  throw error;
});

async function threadsOf(appId) {
  const threads = new Map();
  for await (const thread of headrace.threads.list(appId, { limit: 200 })) threads.set(thread.id, shownThread(thread));
  return threads;
}

async function load(head, reason) {
  if (reason !== 'start') console.log(`${reason}: a new head and snapshot`);
  const apps = new Map();
  for await (const app of headrace.apps.list({ limit: 200 })) {
    const threads = await ifThere(threadsOf(app.id));
    if (threads) apps.set(app.id, shownApp(app, threads));
  }
  view = apps;
  cursor = head;
  console.log(`following ${view.size} apps`);
}

/**
 * An event says what changed; the resource says what it is now. It may be newer than the event; the later event then changes nothing.
 */
async function change({ type, appId, threadId }) {
  if (type === 'platform.app.deleted') return void view.delete(appId);
  if (!type.startsWith('thread.') || !view.has(appId)) {
    const app = await ifThere(headrace.apps.get(appId));
    if (app) view.set(appId, shownApp(app, view.get(appId)?.threads ?? new Map()));
    else view.delete(appId);
  }
  if (!type.startsWith('thread.')) return;
  const thread = type === 'thread.deleted' ? undefined : await ifThere(headrace.threads.get(appId, threadId));
  if (thread) view.get(appId)?.threads.set(threadId, shownThread(thread));
  else view.get(appId)?.threads.delete(threadId);
}

async function apply(event, reached) {
  await change(event);
  cursor = reached;
  console.log(`${event.occurredAt} ${event.type} ${event.threadId ?? event.appId}`);
}

function save(reached) {
  cursor = reached;
}

function onState({ state, reason }) {
  if (state === 'waiting') console.log(`the line broke (${reason.message})`);
}

/** Keeps the view until `signal` aborts. */
async function followLog(signal) {
  while (!signal.aborted) {
    try {
      await headrace.events.view(FEED, { cursor, load, apply, save, onState, signal });
    } catch (error) {
      if (signal.aborted) return;
      // What `apply` reads failed for longer than its calls try: it goes on from the cursor that it has.
      if (!(error instanceof HeadraceError && error.retryable)) throw error;
    }
  }
}

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stopping.abort());
await followLog(stopping.signal);
// What was published in the last moment, so that the view that is printed is the one of now.
if (cursor) for await (const event of headrace.events.replay(FEED, { cursor })) await apply(event, event.cursor);
console.log(JSON.stringify(Object.fromEntries([...view].map(([id, app]) => [id, { ...app, threads: Object.fromEntries(app.threads) }]))));
