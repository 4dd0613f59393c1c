import Type from 'typebox';
import type { Static } from 'typebox';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { Body, Counter, Enum, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { anotherIsOpen, hold, lockAsked, notOpen, patching } from '../sync/index.ts';
import { MAX_BODY, MAX_TITLE, PullRequest } from './schemas.ts';
import { findOpen } from './store.ts';
import type { LoadedPullRequest } from './view.ts';

const Update = Body({
  title: Type.Optional(Text('Overdue reminders', { minLength: 1, maxLength: MAX_TITLE })),
  body: Type.Optional(Text('Reminds customers of overdue invoices.', { maxLength: MAX_BODY })),
  draft: Type.Optional(Type.Boolean()),
  base: Type.Optional(Text('main', { minLength: 1, maxLength: 255 })),
  state: Type.Optional(Enum(['open', 'closed'])),
  autoPush: Type.Optional(Type.Boolean({ description: "Whether the thread's newer sources are pushed." })),
  expectedVersion: Type.Optional(Counter),
});
type Asked = Static<typeof Update>;

function requireVersion({ row }: LoadedPullRequest, expected: number | undefined): void {
  if (expected === undefined || expected === row.version) return;
  throw new ApiError(
    'version_conflict',
    'The pull request has changed since you read it. Read it again, then repeat the change.',
    { details: { current: { version: row.version } } },
  );
}

/** An open one takes everything, a closed one only to be opened again. */
async function requireState(tx: Tx, { row }: LoadedPullRequest, asked: Asked): Promise<void> {
  if (row.state === 'open') return;
  const { expectedVersion: _, ...change } = asked;
  const isReopening = change.state === 'open' && Object.keys(change).length === 1;
  if (row.state === 'merged' || !isReopening) throw notOpen();
  const open = row.transferred_at === null ? await findOpen(tx.db, row.thread_id) : undefined;
  if (open) throw anotherIsOpen(open.id);
}

function requireAutoPush({ row, loop }: LoadedPullRequest, autoPush: boolean | undefined): void {
  if (autoPush === false && loop?.enabled)
    throw new ApiError('conflict', 'The review loop needs autoPush. Disable the loop first.');
  if (autoPush === true && row.transferred_at !== null)
    throw new ApiError('conflict', 'Another thread has taken over the pull request. Change it there.');
}

export const updatePullRequest = outsideWrite({
  name: 'pullRequests.updatePullRequest',
  summary: 'Change a pull request, close it or open it again',
  description: 'A closed pull request accepts only `state` `open`. If an expectation fails, nothing changes.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: Update,
  responses: { 200: Ok({ pullRequest: PullRequest }) },
  errors: [503],
  async claim(tx, call, operationId) {
    const { body } = call;
    const { thread, loaded } = await lockAsked(tx, call);
    await hold(tx, thread.thread, operationId);
    requireVersion(loaded, body.expectedVersion);
    await requireState(tx, loaded, body);
    requireAutoPush(loaded, body.autoPush);
    const { title, draft, state, base: baseRef } = body;
    const fields = Object.entries({ title, body: body.body, draft, baseRef, state }).filter(
      ([, value]) => value !== undefined,
    );
    const { row } = loaded;
    return {
      target: {
        id: row.id,
        threadId: row.thread_id,
        repositoryId: row.repository_id,
        number: row.number,
        fields: Object.fromEntries(fields),
        autoPush: body.autoPush ?? null,
      },
      scope: scopeOf(thread.project),
    };
  },
  effect: patching,
});
