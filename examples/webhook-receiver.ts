/**
 * Receives webhooks: verifies each one, keeps each event once, and answers before it works on them.
 *
 *     WEBHOOK_SECRET=whsec_… PORT=8080 node_modules/.bin/node examples/webhook-receiver.ts
 *
 * In your own project it runs with Node 24 or newer: install the tarball that `npm run client:pack` makes.
 * INBOX is its SQLite file. With HEADRACE_KEY (and HEADRACE_URL, default http://127.0.0.1:4400) it also reads missed
 * events from the log: at the start, and every hour. The guide to webhooks explains it.
 */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { createClient, isCode } from '@headrace/client';
import type { Client, HeadraceEvent } from '@headrace/client';
import { verifyWebhook, WebhookError } from '@headrace/client/webhooks';
import type { WebhookEvent } from '@headrace/client/webhooks';

type Event = WebhookEvent | HeadraceEvent;

const { WEBHOOK_SECRET = '', PORT = '8080', INBOX = 'inbox.db', HEADRACE_KEY } = process.env;
const { HEADRACE_URL = 'http://127.0.0.1:4400' } = process.env;
/** The subscription's types and project, for the log. */
const FEED = { direct: true, types: ['thread.updated', 'thread.deleted'] } as const;
const MAX_BODY = 1024 * 1024;
const RETRY_MS = 5_000;
const CATCH_UP_MS = 3_600_000;

const db = new DatabaseSync(INBOX);
db.exec(`
  create table if not exists inbox (id text primary key, sequence integer, event text not null, done integer not null default 0);
  create index if not exists inbox_open on inbox (sequence) where not done;
  create table if not exists log (cursor text not null)`);
// A repeated delivery, or an event in the log that was already delivered, changes nothing.
const insert = db.prepare('insert or ignore into inbox (id, sequence, event) values (?, ?, ?)');
const next = db.prepare('select id, event from inbox where not done order by sequence limit 1');
const finish = db.prepare('update inbox set done = 1 where id = ?');

const keep = (event: Event) => insert.run(event.id, event.sequence && Number(event.sequence), JSON.stringify(event));

/** Your work for an event. It may run twice if the process dies midway. */
async function act({ id, type, data }: Event): Promise<void> {
  console.log(`${id} ${type} ${data.id}`);
}

let isWorking = false;
/** Processes open events one by one; retries a little later after a failure. */
async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  try {
    for (let row = next.get(); row; row = next.get()) {
      await act(JSON.parse(row.event as string));
      finish.run(row.id!);
    }
  } catch (error) {
    console.error(error);
    setTimeout(work, RETRY_MS);
  } finally {
    isWorking = false;
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY) throw new Error('the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

const server = createServer(async (request, response) => {
  try {
    // Throws if the signature is wrong, or older than five minutes.
    const event = await verifyWebhook(WEBHOOK_SECRET, request.headers, await read(request));
    keep(event);
    response.writeHead(204).end();
    void work();
  } catch (error) {
    const isForged = error instanceof WebhookError;
    if (!isForged) console.error(error);
    response.writeHead(isForged ? 401 : 500).end();
  }
});

/** Reads the log on from the last position. The first time it only takes the position. */
async function catchUp({ events }: Client): Promise<void> {
  const stored = db.prepare('select cursor from log').get()?.cursor as string | undefined;
  let cursor = stored ?? (await events.head(FEED));
  for (let hasMore = true; hasMore;) {
    const page = await events.list(FEED, { cursor, limit: 500 });
    db.exec('begin');
    for (const event of page.events) keep(event);
    db.exec('delete from log');
    db.prepare('insert into log values (?)').run((cursor = page.nextCursor));
    db.exec('commit');
    ({ hasMore } = page);
  }
  console.log('caught up with the log');
  void work();
}

async function catchUpSafely(client: Client): Promise<void> {
  try {
    await catchUp(client);
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    // The position is older than the log: take a new one, and reload what you show.
    if (isCode(error, 'cursor_expired')) db.exec('delete from log');
    console.error(error);
  }
}

server.listen(Number(PORT), () => console.log(`listening on port ${PORT}`));
void work();
if (HEADRACE_KEY) {
  const client = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });
  void catchUpSafely(client);
  setInterval(catchUpSafely, CATCH_UP_MS, client);
}
