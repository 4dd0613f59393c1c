import Type from 'typebox';
import { write } from '../http/operation.ts';
import { Body, Id, IdInput, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { queueRestore } from '../runs/index.ts';
import { loadSource } from '../sources/index.ts';
import { lockThread } from '../threads/index.ts';

const Result = Type.Object({
  threadId: Id('thr'),
  runId: Id('run'),
  checkpointId: Type.Null({ description: 'Set where a checkpoint is restored.' }),
  sourceId: Id('src', 'The source whose files the run restores.'),
  status: Text('queued'),
});

export const restoreSource = write({
  name: 'checkpoints.restoreSource',
  summary: 'Restore a source of the app: a new source with its files',
  description:
    'Any source of the app will do, also one of another thread. With an apply afterwards it brings an older head back.',
  access: { permissions: ['thread:update'] },
  body: Body({
    sourceId: IdInput('src'),
    clientOperationId: Type.Optional(Text('7d1f5a52', { minLength: 1, maxLength: 64 })),
  }),
  legacyKeys: ['/clientOperationId'],
  responses: { 202: Ok({ result: Result }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    const source = await loadSource(tx.db, loaded.project.id, call.body.sourceId);
    const run = await queueRestore(tx, call, loaded, source.id);
    const result = {
      threadId: loaded.thread.id,
      runId: run.id,
      checkpointId: null,
      sourceId: source.id,
      status: run.status,
    };
    return { status: 202, body: { ok: true, result }, scope: scopeOf(loaded.project) };
  },
});
