import { sql } from 'kysely';
import Type from 'typebox';
import type { Static } from 'typebox';
import type { ThreadRow } from '../db/schema.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Counter, Enum, Micros, Nullable, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { cancelPreparation, cancelThreadWork } from '../teardown/index.ts';
import { changeThread } from './change-thread.ts';
import type { ThreadChange } from './store.ts';
import { lockThread } from './policy.ts';
import { Thread, Title } from './schemas.ts';
import { viewThread } from './view.ts';

const UpdateBody = Body({
  archived: Type.Optional(Type.Boolean()),
  expectedArchiveVersion: Type.Optional(Counter),
  expectedTitleVersion: Type.Optional(Counter),
  expectedVersion: Type.Optional(Counter),
  status: Type.Optional(Enum(['archived', 'ready'])),
  spendLimitMicros: Type.Optional(Nullable(Micros)),
  title: Type.Optional(Nullable(Title)),
  clientOperationId: Type.Optional(Text('7d1f5a52', { minLength: 1, maxLength: 64 })),
});
type Update = Static<typeof UpdateBody>;

/** Whether the thread shall be archived afterwards; undefined = as it is. */
function wantedArchive({ archived, status }: Update): boolean | undefined {
  const byStatus = status === undefined ? undefined : status === 'archived';
  if (archived !== undefined && byStatus !== undefined && archived !== byStatus)
    throw invalid({ path: '/status', message: 'contradicts archived' });
  return archived ?? byStatus;
}

function requireExpected(thread: ThreadRow, body: Update): void {
  const isStale = (expected: number | undefined, now: number) => expected !== undefined && expected !== now;
  if (
    !isStale(body.expectedVersion, thread.version) &&
    !isStale(body.expectedTitleVersion, thread.title_version) &&
    !isStale(body.expectedArchiveVersion, thread.archive_version)
  )
    return;
  throw new ApiError('version_conflict', 'The thread was changed meanwhile. Read it again and decide anew.', {
    details: {
      current: {
        version: thread.version,
        titleVersion: thread.title_version,
        archiveVersion: thread.archive_version,
      },
    },
  });
}

export const updateThread = write({
  name: 'threads.updateThread',
  summary: "Change a thread's title or spend limit, archive or unarchive it",
  description:
    'Archiving ends its runs, its queued apply and its build, and saves and ends its workspace. A failed expectation changes nothing at all.',
  access: { permissions: ['thread:update'] },
  body: UpdateBody,
  legacyKeys: ['/clientOperationId'],
  responses: { 200: Ok({ thread: Thread }) },
  async handle(tx, call) {
    const { body } = call;
    const wanted = wantedArchive(body);
    const loaded = await lockThread(tx, call);
    const { thread } = loaded;
    requireExpected(thread, body);
    const change: ThreadChange = {};
    if (body.title !== undefined && body.title !== thread.title)
      Object.assign(change, { title: body.title, title_version: sql<number>`title_version + 1` });
    if (body.spendLimitMicros !== undefined && body.spendLimitMicros !== thread.spend_limit_micros)
      change.spend_limit_micros = body.spendLimitMicros;
    const isArchived = thread.archived_at !== null;
    if (wanted !== undefined && wanted !== isArchived) {
      if (wanted) Object.assign(change, await cancelThreadWork(tx, loaded), { archived_at: new Date() });
      else Object.assign(change, { archived_at: null, last_run_failed: false });
      change.archive_version = sql<number>`archive_version + 1`;
    }
    if (Object.keys(change).length === 0)
      return {
        status: 200,
        body: { ok: true, thread: await viewThread(tx.db, thread) },
        scope: scopeOf(loaded.project),
      };
    let row = await changeThread(tx, loaded, change, 'always');
    if (wanted === true && !isArchived) {
      await cancelPreparation(tx, { ...loaded, thread: row });
      row = await tx.db.selectFrom('threads').selectAll().where('id', '=', row.id).executeTakeFirstOrThrow();
    }
    return {
      status: 200,
      body: { ok: true, thread: await viewThread(tx.db, row) },
      scope: scopeOf(loaded.project),
    };
  },
});
