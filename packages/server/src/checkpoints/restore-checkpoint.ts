import Type from 'typebox';
import { write } from '../http/operation.ts';
import { Body, Id, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { queueRestore } from '../runs/index.ts';
import { lockThread } from '../threads/index.ts';
import { loadCheckpoint } from './store.ts';

const Result = Type.Object({
  threadId: Id('thr'),
  runId: Id('run'),
  checkpointId: Id('chk'),
  status: Text('queued'),
});

export const restoreCheckpoint = write({
  name: 'checkpoints.restoreCheckpoint',
  summary: 'Restore a checkpoint: a new source with its files',
  access: { permissions: ['thread:update'] },
  body: Body({ clientOperationId: Type.Optional(Text('7d1f5a52', { minLength: 1, maxLength: 64 })) }),
  legacyKeys: ['/clientOperationId'],
  responses: { 202: Ok({ result: Result }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    const checkpoint = await loadCheckpoint(tx.db, loaded.thread.id, call.params.checkpointId!);
    const run = await queueRestore(tx, call, loaded, checkpoint.source_id);
    return {
      status: 202,
      body: {
        ok: true,
        result: {
          threadId: loaded.thread.id,
          runId: run.id,
          checkpointId: checkpoint.id,
          status: run.status,
        },
      },
      scope: scopeOf(loaded.project),
    };
  },
});
