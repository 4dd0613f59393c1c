import { sql } from 'kysely';
import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { cancelPreparation, cancelThreadWork } from '../teardown/index.ts';
import { changeThread } from './change-thread.ts';
import { lockThread } from './policy.ts';
import { Thread } from './schemas.ts';
import { viewThread } from './view.ts';

export const deleteThread = write({
  name: 'threads.deleteThread',
  summary: 'Delete a thread; its sources stay',
  access: { permissions: ['thread:delete'] },
  responses: { 200: Ok({ thread: Thread }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    const change = await cancelThreadWork(tx, loaded);
    const thread = await changeThread(tx, loaded, { ...change, deleted_at: sql<Date>`now()` }, 'asDeleted');
    await cancelPreparation(tx, { ...loaded, thread });
    await audit(tx, call, 'thread.deleted', thread.id);
    return {
      status: 200,
      body: { ok: true, thread: await viewThread(tx.db, thread.id) },
      scope: scopeOf(loaded.project),
    };
  },
});
