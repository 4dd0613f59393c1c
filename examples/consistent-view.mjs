/**
 * A consistent view of all apps and their threads, kept up to date from the event log. Nothing but fetch; Node 20 or newer.
 *
 *     npm start                                            # in one terminal; prints the address and, at the first start, the key
 *     HEADRACE_KEY=hrk_… node examples/consistent-view.mjs # in another; HEADRACE_URL where it is not http://127.0.0.1:4400
 *
 * Prints a line for each event, and the view as JSON when it is stopped (Ctrl-C). The procedure, in `followLog` below:
 *
 *     1. head       a cursor that stands behind everything published so far
 *     2. snapshot   read what is to be shown; it may be newer than the cursor, never older
 *     3. replay     every event behind the cursor, page by page, until there are no more
 *     4. stream     the same events live, from the cursor on that was reached; again from the last one whenever the line breaks
 *     410           the cursor is too old, or the key reads other apps now: begin again with 1
 */
const BASE = process.env.HEADRACE_URL ?? 'http://127.0.0.1:4400';
const KEY = process.env.HEADRACE_KEY;
const API = '/api/platform/v1';

/** The filters are part of the cursor: the same ones with head, pages and stream. */
const TYPES = ['platform.app.created', 'platform.app.updated', 'platform.app.deleted', 'platform.head.updated', 'thread.updated', 'thread.deleted'].join(',');

/** Heartbeats come every 15 s: a line that is silent for longer is dead, though nobody said so. */
const SILENT_MS = 40_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** A stream that breaks may send again what it had sent: as many ids are remembered as two pages have. */
const REMEMBERED = 1_000;

class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}
/** After these the view has a hole that no replay fills: head, snapshot and replay once more. */
const isRestart = (error) => error.code === 'cursor_expired' || error.code === 'cursor_scope_changed';

async function request(path, { headers, signal } = {}) {
  const response = await fetch(BASE + path, { headers: { 'X-Api-Key': KEY, ...headers }, signal });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new ApiError(response.status, error?.code ?? 'unknown', error?.message ?? response.statusText);
}
const read = async (path, signal) => (await request(path, { signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]) })).json();

async function* list(path, name, signal) {
  for (let cursor = ''; ;) {
    const page = await read(`${path}?limit=200${cursor && `&cursor=${cursor}`}`, signal);
    yield* page[name];
    if (!page.hasMore) return;
    cursor = page.nextCursor;
  }
}

/** The view: apps by id, each with its threads by id. */
const view = new Map();
const shownApp = (app, threads) => ({ name: app.name, externalId: app.externalId, headSourceId: app.headSourceId, version: app.version, threads });
const shownThread = (thread) => ({ title: thread.title, status: thread.status, version: thread.version });

async function takeSnapshot(signal) {
  view.clear();
  for await (const app of list(`${API}/apps`, 'apps', signal)) {
    const threads = new Map();
    try {
      for await (const thread of list(`${API}/apps/${app.id}/threads`, 'threads', signal)) threads.set(thread.id, shownThread(thread));
      view.set(app.id, shownApp(app, threads));
    } catch (error) {
      // Deleted since it was listed; its event comes with the replay.
      if (error.status !== 404) throw error;
    }
  }
}

/** A resource as it is now; undefined where it is gone, of which an event tells as well. */
const readIfThere = (path, signal) => read(path, signal).catch((error) => {
  if (error.status === 404 || error.status === 403) return undefined;
  throw error;
});

/**
 * An event says what changed; what it is now the resource says. It may be newer than the event, so that a later event finds it as it is
 * already: reading it again changes nothing.
 */
async function applyEvent({ type, appId, threadId }, signal) {
  if (type === 'platform.app.deleted') return void view.delete(appId);
  if (!type.startsWith('thread.') || !view.has(appId)) {
    const answer = await readIfThere(`${API}/apps/${appId}`, signal);
    if (answer) view.set(appId, shownApp(answer.app, view.get(appId)?.threads ?? new Map()));
    else view.delete(appId);
  }
  if (!type.startsWith('thread.')) return;
  const answer = type === 'thread.deleted' ? undefined : await readIfThere(`${API}/apps/${appId}/threads/${threadId}`, signal);
  if (answer) view.get(appId)?.threads.set(threadId, shownThread(answer.thread));
  else view.get(appId)?.threads.delete(threadId);
}

const seen = new Set();
/** Each event once, by its `id`; the cursor moves on only when the view has it. */
async function take(event, signal) {
  if (!seen.has(event.id)) {
    await applyEvent(event, signal);
    seen.add(event.id);
    if (seen.size > REMEMBERED) seen.delete(seen.values().next().value);
    console.log(`${event.occurredAt} ${event.type} ${event.threadId ?? event.appId}`);
  }
}

/** Step 3: all pages behind the cursor. Returns the cursor that was reached: an empty page has one too. */
async function replay(cursor, signal) {
  for (;;) {
    const page = await read(`${API}/events?types=${TYPES}&limit=500&cursor=${cursor}`, signal);
    for (const event of page.events) await take(event, signal);
    cursor = page.nextCursor;
    if (!page.hasMore) return cursor;
  }
}

/** The frames of a stream: { id, event, data }. */
async function* frames(response, touch) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    touch();
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) {
      const frame = Object.fromEntries(part.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]));
      yield { ...frame, data: JSON.parse(frame.data) };
    }
  }
}

/** Step 4, until the line breaks. `moved` is told each cursor: of events, and of heartbeats, which stand behind what the filters left out. */
async function stream(cursor, signal, moved) {
  const line = new AbortController();
  let timer;
  const touch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => line.abort(), SILENT_MS);
  };
  touch();
  try {
    const response = await request(`${API}/events/stream?types=${TYPES}`, { headers: { 'Last-Event-ID': cursor }, signal: AbortSignal.any([signal, line.signal]) });
    for await (const { id, event, data } of frames(response, touch)) {
      if (event === 'error') throw new ApiError(410, data.code, data.message);
      if (event !== 'heartbeat') await take(data, signal);
      if (id) moved(id);
    }
  } finally {
    clearTimeout(timer);
    line.abort();
  }
}

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
});

/** Keeps the view until `signal` aborts; returns the last cursor. */
async function followLog(signal) {
  let cursor = null;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (cursor === null) {
        const head = (await read(`${API}/events/head?types=${TYPES}`, signal)).cursor;
        await takeSnapshot(signal);
        seen.clear();
        cursor = await replay(head, signal);
        console.log(`following ${view.size} apps`);
      }
      await stream(cursor, signal, (next) => { cursor = next; failures = 0; });
    } catch (error) {
      if (signal.aborted) break;
      if (error.status === 401) throw error;
      console.log(isRestart(error) ? `${error.code}: a new head and snapshot` : `the line broke (${error.code ?? error.message})`);
      if (isRestart(error)) cursor = null;
    }
    // Also where a stream was ended without an error: by a restart of the service, or because this reader was too slow.
    if (!signal.aborted) await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures++) * (0.5 + Math.random() / 2), signal);
  }
  return cursor;
}

if (!KEY) {
  console.error('Set HEADRACE_KEY to a service key that has thread:read and project:read.');
  process.exit(2);
}
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stopping.abort());
const reached = await followLog(stopping.signal);
// What was published in the last moment, so that the view that is printed is the one of now.
if (reached !== null) await replay(reached, AbortSignal.timeout(30_000));
console.log(JSON.stringify(Object.fromEntries([...view].map(([id, app]) => [id, { ...app, threads: Object.fromEntries(app.threads) }]))));
