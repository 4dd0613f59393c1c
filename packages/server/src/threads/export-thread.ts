import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import { Checkpoint, checkpointView } from '../checkpoints/index.ts';
import type { CheckpointRow, RunRow, ToolRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { exampleOf } from '../http/example.ts';
import { read } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Places } from '../http/places.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { spool } from '../http/spool.ts';
import { Message, MESSAGE_COLUMNS, messageView } from '../messages/index.ts';
import type { MessageColumns } from '../messages/index.ts';
import { oldestFirst, PullRequest, pullRequestView } from '../pull-requests/index.ts';
import { Run, runView, Tool, toolView } from '../runs/index.ts';
import { loadThread } from './policy.ts';
import { Thread } from './schemas.ts';
import { viewThread } from './view.ts';

const Export = Type.Object({
  formatVersion: Type.Literal(1),
  thread: Thread,
  messages: Type.Array(Message),
  runs: Type.Array(Run),
  tools: Type.Array(Tool),
  checkpoints: Type.Array(Checkpoint),
  pullRequests: Type.Array(PullRequest),
});

/** Each holds a database connection while the thread is read. */
const reading = new Places({ what: 'exports', all: 4, each: 2, waiting: 100, waitMs: 30_000 });
/** Each takes disk space until its caller has downloaded it. */
const open = new Places({ what: 'exports', all: 256, each: 8, waiting: 100, waitMs: 30_000 });

export const exportThread = read({
  name: 'threads.exportThread',
  summary: "Export a thread's transcript, as JSON or Markdown",
  description: 'A consistent snapshot of the thread, oldest first, without the data of attachments.',
  access: { permissions: ['thread:read'] },
  query: Body({ format: Type.Optional(Enum(['json', 'markdown'])) }),
  responses: {
    200: {
      content: {
        'application/json': { schema: Ok({ export: Export }), example: exampleOf(Ok({ export: Export })) },
        'text/markdown': { schema: { type: 'string' } },
      },
    },
  },
  async handle(call) {
    const { thread } = await loadThread(call.ctx.db, call);
    const [type, ending, transcriptOf] =
      call.query.format === 'markdown'
        ? ['text/markdown', 'md', markdownOf]
        : ['application/json', 'json', jsonOf];
    return {
      status: 200,
      stream: await readOut(call, (db) => transcriptOf(db, thread.id)),
      headers: {
        'content-type': `${type}; charset=utf-8`,
        'content-disposition': `attachment; filename="${thread.id}.${ending}"`,
      },
    };
  },
});

type Snapshot = Tx['db'];
type Texts = AsyncGenerator<string>;

/** One snapshot, so that the parts are consistent. It ends before the caller reads. */
async function readOut({ ctx, principal, signal }: Call, textsOf: (db: Snapshot) => Texts) {
  const close = await open.take(principal.orgId, signal);
  let spooled: Readable | undefined;
  try {
    const leave = await reading.take(principal.orgId, signal);
    const stream = await ctx.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (db) => (spooled = await spool(ctx.config.dataDir, textsOf(db), signal)))
      .finally(leave);
    return stream.once('close', close);
  } catch (error) {
    // The transaction may end badly after it.
    spooled?.destroy();
    close();
    throw error;
  }
}

async function* jsonOf(db: Snapshot, threadId: string): Texts {
  const thread = await viewThread(db, threadId);
  yield `{"ok":true,"export":{"formatVersion":1,"thread":${JSON.stringify(thread)}`;
  yield* listOf('messages', messagesOf(db, threadId), messageView);
  yield* listOf('runs', runsOf(db, threadId), runView);
  yield* listOf('tools', toolsOf(db, threadId), toolView);
  yield* listOf('checkpoints', checkpointsOf(db, threadId), checkpointView);
  yield* listOf('pullRequests', oldestFirst(db, threadId), pullRequestView);
  yield '}}';
}

async function* listOf<Row>(name: string, rows: AsyncGenerator<Row>, view: (row: Row) => unknown): Texts {
  let separator = '';
  yield `,"${name}":[`;
  for await (const row of rows) {
    yield separator + JSON.stringify(view(row));
    separator = ',';
  }
  yield ']';
}

async function* markdownOf(db: Snapshot, threadId: string): Texts {
  const { title } = await viewThread(db, threadId);
  yield `# ${title === null ? 'Thread' : inLine(title)}\n`;
  const lines = toolLinesOf(db, threadId);
  let line = await lines.next();
  for await (const { role, created_at: createdAt, content, sequence } of messagesOf(db, threadId)) {
    yield `\n## ${role} (${createdAt.toISOString()})\n\n${content}\n`;
    for (let before = '\n'; !line.done && line.value.sequence === sequence; before = '') {
      yield `${before}- ${inLine(line.value.title)} (${line.value.status})\n`;
      line = await lines.next();
    }
  }
}

const inLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

const messagesOf = (db: Snapshot, threadId: string) =>
  inPages<MessageColumns>(
    db,
    'sequence',
    (last) => sql`
      select ${sql.raw(MESSAGE_COLUMNS.join(', '))},
        octet_length(content) as bytes
      from messages
      where thread_id = ${threadId} and sequence > ${last?.sequence ?? 0}`,
  );

const runsOf = (db: Snapshot, threadId: string) =>
  inPages<RunRow>(
    db,
    'id',
    (last) => sql`
      select *, coalesce(octet_length(prompt), 0) + pg_column_size(warnings) as bytes from runs
      where thread_id = ${threadId} and id > ${last?.id ?? ''}`,
  );

/** In the order of their runs. */
const toolsOf = (db: Snapshot, threadId: string) =>
  inPages<ToolRow>(
    db,
    'run_id, id',
    (last) => sql`
      select t.*, coalesce(octet_length(t.output), 0) + coalesce(pg_column_size(t.input), 0) as bytes
      from runs r join tools t on t.run_id = r.id
      where r.thread_id = ${threadId} and r.id >= ${last?.run_id ?? ''}
        and (t.run_id, t.id) > (${last?.run_id ?? ''}, ${last?.id ?? ''})`,
  );

interface ToolLine {
  /** The sequence of the message that they follow. */
  sequence: number;
  id: string;
  title: string;
  status: string;
}
/** The tools of the run of each assistant message, in the order of the messages. */
const toolLinesOf = (db: Snapshot, threadId: string) =>
  inPages<ToolLine>(
    db,
    'sequence, id',
    (last) => sql`
      select m.sequence, t.id, coalesce(t.title, t.name) as title, t.status, 0 as bytes
      from messages m join tools t on t.run_id = m.run_id
      where m.thread_id = ${threadId} and m.role = 'assistant' and m.sequence >= ${last?.sequence ?? 0}
        and (m.sequence, t.id) > (${last?.sequence ?? 0}, ${last?.id ?? ''})`,
  );

const checkpointsOf = (db: Snapshot, threadId: string) =>
  inPages<CheckpointRow>(
    db,
    'id',
    (last) => sql`
      select *, 0 as bytes from checkpoints where thread_id = ${threadId} and id > ${last?.id ?? ''}`,
  );

const PAGE_ROWS = 500;
const PAGE_BYTES = 1024 * 1024;

/**
 * Rows page by page. Memory holds one page: at most PAGE_BYTES, or the longest row. `after` selects the rows after a
 * row in this order, with the `bytes` of their long columns.
 */
async function* inPages<Row>(
  db: Snapshot,
  order: string,
  after: (last: Row | undefined) => RawBuilder<unknown>,
): AsyncGenerator<Row> {
  const by = sql.raw(order);
  let page: Row[] = [];
  do {
    ({ rows: page } = await sql<Row>`
      select * from (
        select *, sum(bytes) over (order by ${by}) - bytes as bytes_before
        from (${after(page.at(-1))} order by ${by} limit ${PAGE_ROWS}) as listed
      ) as counted where bytes_before < ${PAGE_BYTES} order by ${by}`.execute(db));
    yield* page;
  } while (page.length > 0);
}
