import { sql } from 'kysely';
import Type from 'typebox';
import type { Static } from 'typebox';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Counter, Enum, Micros, Nullable, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { cancelPreparation, cancelThreadWork } from '../teardown/index.ts';
import { initializationChange } from './initialization.ts';
import { changeThread } from './change-thread.ts';
import type { ThreadChange } from './store.ts';
import { lockThread } from './policy.ts';
import type { LoadedThread } from './policy.ts';
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

type ArchiveStep = 'archive' | 'unarchive' | null;

/** Whether the caller wants the thread to be archived; undefined where it does not say. */
function wantedArchive({ archived, status }: Update): boolean | undefined {
  const byStatus = status === undefined ? undefined : status === 'archived';
  if (archived !== undefined && byStatus !== undefined && archived !== byStatus)
    throw invalid({ path: '/status', message: 'contradicts archived' });
  return archived ?? byStatus;
}

function archiveStep(thread: ThreadRow, wanted: boolean | undefined): ArchiveStep {
  if (wanted === undefined || wanted === (thread.archived_at !== null)) return null;
  return wanted ? 'archive' : 'unarchive';
}

function requireExpected(thread: ThreadRow, body: Update): void {
  const isStale = (expected: number | undefined, now: number) => expected !== undefined && expected !== now;
  if (
    !isStale(body.expectedVersion, thread.version) &&
    !isStale(body.expectedTitleVersion, thread.title_version) &&
    !isStale(body.expectedArchiveVersion, thread.archive_version)
  )
    return;
  throw new ApiError(
    'version_conflict',
    'The thread was changed meanwhile. Read it again and decide again.',
    {
      details: {
        current: {
          version: thread.version,
          titleVersion: thread.title_version,
          archiveVersion: thread.archive_version,
        },
      },
    },
  );
}

/** The change of title and spend limit. */
function fieldChange(thread: ThreadRow, { title, spendLimitMicros }: Update): ThreadChange {
  return {
    ...(title !== undefined && title !== thread.title
      ? { title, title_version: sql<number>`title_version + 1` }
      : {}),
    ...(spendLimitMicros !== undefined && spendLimitMicros !== thread.spend_limit_micros
      ? { spend_limit_micros: spendLimitMicros }
      : {}),
  };
}

/** Ends the work of a thread that is archived; returns the change. */
async function archiveChange(tx: Tx, loaded: LoadedThread, step: ArchiveStep): Promise<ThreadChange> {
  if (step === null) return {};
  const archive_version = sql<number>`archive_version + 1`;
  return step === 'archive'
    ? { ...(await cancelThreadWork(tx, loaded)), archived_at: new Date(), archive_version }
    : {
        archived_at: null,
        last_run_failed: false,
        archive_version,
        ...initializationChange(loaded.thread, 'unarchive'),
      };
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
    if (loaded.thread.execution_target && body.spendLimitMicros !== undefined)
      throw invalid({
        path: '/spendLimitMicros',
        message: "must not be given: what a host's agents spend is not known here",
      });
    requireExpected(loaded.thread, body);
    const step = archiveStep(loaded.thread, wanted);
    const change = { ...fieldChange(loaded.thread, body), ...(await archiveChange(tx, loaded, step)) };
    let { thread } = loaded;
    if (Object.keys(change).length > 0) thread = await changeThread(tx, loaded, change, 'always');
    if (step === 'archive') thread = await cancelPreparation(tx, { ...loaded, thread });
    return {
      status: 200,
      body: { ok: true, thread: await viewThread(tx.db, thread.id) },
      scope: scopeOf(loaded.project),
    };
  },
});
