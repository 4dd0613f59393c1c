/**
 * A consistent view of all apps and their threads, kept up to date from the event log with `@headrace/client`.
 *
 *     npm start                                                              # in one terminal; prints the address and, at the first start, the key
 *     HEADRACE_KEY=hrk_… node_modules/.bin/node examples/consistent-view.mjs # in another; set HEADRACE_URL if it is not http://127.0.0.1:4400
 *
 * In your own project it runs with Node 20 or newer: install the tarball that `npm run client:pack` makes.
 *
 * Prints a line for each event, and the view as JSON when it is stopped (Ctrl-C). The client keeps the view exact:
 *
 *     1. head       a cursor after everything published so far
 *     2. load       read what the view shows; it may be newer than the cursor, never older
 *     3. apply      every event after the cursor, once and in order; the connection may break at any time
 *     410           the cursor is too old, or the key reads other apps now: begin again with 1
 */
import { createClient, HeadraceError } from '@headrace/client';

const { HEADRACE_URL = 'http://127.0.0.1:4400', HEADRACE_KEY } = process.env;
if (!HEADRACE_KEY) {
  console.error('Set HEADRACE_KEY to a service key that has thread:read and project:read.');
  process.exit(2);
}
const headrace = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });

/** The events of all apps that change the view. The filters are part of the cursor. */
const FEED = { types: ['platform.app.created', 'platform.app.updated', 'platform.app.deleted', 'platform.head.updated', 'thread.updated', 'thread.deleted'] };

/** The view: apps by id, each with its threads by id. */
let view = new Map();
/** The view has all events up to here. A view in a database keeps it in the same transaction. */
let cursor;

const shownApp = (app, threads) => ({ name: app.name, externalId: app.externalId, headSourceId: app.headSourceId, version: app.version, threads });
const shownThread = (thread) => ({ title: thread.title, status: thread.status, version: thread.version });

/** The result of a call; undefined if the resource is gone, which an event also reports. */
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
 * An event says what changed; the resource has the current state. It may be newer than the event; the later event then changes nothing.
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
      // A read in `apply` failed for longer than its retries: continue from the current cursor.
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
