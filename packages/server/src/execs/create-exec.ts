/**
 * A command in the idle thread's workspace. The claim occupies the thread and enqueues the job; the job
 * settles the receipt. The caller waits for that, or reads the output as it comes; a disconnect cancels
 * nothing.
 */
import Type from 'typebox';
import type { ExecRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { requireNoHost } from '../hosts/index.ts';
import { exampleOf } from '../http/example.ts';
import { claimedWrite } from '../http/operation.ts';
import { Body, Counter, Id, Nullable, Ok, Text } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { requirePlace } from '../capacity/index.ts';
import { requireWorker } from '../processes/index.ts';
import { scopeOf } from '../projects/index.ts';
import { threadKey } from '../runs/index.ts';
import { changeThread, lockThread, requireIdle, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { awaitResult } from './await-result.ts';
import { insertExec } from './store.ts';
import { streamOutput } from './stream-output.ts';

const Exec = Type.Object({
  exitCode: Nullable(Type.Integer({ examples: [0] })),
  signal: Nullable(Text('SIGKILL')),
  timedOut: Type.Boolean({ examples: [false] }),
  stdout: Text('ok\n', { description: 'At most 1 MiB.' }),
  stderr: Text('', { description: 'At most 1 MiB.' }),
  truncated: Type.Boolean({ examples: [false] }),
  durationMs: Counter,
  sourceId: Nullable(Id('src', 'The new version; null when no file changed.')),
});
const Answer = Ok({ exec: Exec });
const DEFAULT_SECONDS = 60;

export const createExec = claimedWrite({
  name: 'execs.createExec',
  summary: "Run a command in the idle thread's workspace",
  description:
    "Runs `sh -c command` in the source's root. With `Accept: text/event-stream` the answer is a stream of `output` frames {stream, text} and a last `exit` frame with the rest. A disconnect cancels nothing; a retry gets the stored result.",
  access: { permissions: ['thread:update'] },
  body: Body({
    command: Text('npm test', { minLength: 1, maxLength: 10_000 }),
    timeoutSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600, default: DEFAULT_SECONDS })),
    stdin: Type.Optional(Type.String({ maxLength: 1_048_576, examples: ['yes\n'] })),
  }),
  responses: {
    200: {
      content: {
        'application/json': { schema: Answer, example: exampleOf(Answer) },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
  },
  mode: 'job',
  publishesPending: true,
  async prepare(call) {
    return {
      prepared: null,
      onClaim: async (tx: Tx, operationId: string) => {
        const loaded = await lockThread(tx, call);
        requireNoHost(loaded.thread);
        requireOpen(loaded.thread);
        await requireIdle(tx, loaded.thread);
        await requireWorker(call.ctx, tx.db);
        await requirePlace(tx, call.ctx, 'execs', loaded.thread.org_id);
        await queueExec(tx, loaded, {
          operation_id: operationId,
          request_id: call.requestId,
          command: call.body.command,
          stdin: call.body.stdin ?? null,
          timeout_seconds: call.body.timeoutSeconds ?? DEFAULT_SECONDS,
        });
        return scopeOf(loaded.project);
      },
    };
  },
  async handle(call, claim) {
    const exec = {
      operationId: claim.operationId,
      timeoutSeconds: call.body.timeoutSeconds ?? DEFAULT_SECONDS,
    };
    if ((call.headers.accept ?? '').includes('text/event-stream')) {
      const response = call.hijack({
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
        'x-operation-id': claim.operationId,
      });
      await streamOutput(call, { ...exec, threadId: call.params.threadId! }, response).finally(() =>
        response.end(),
      );
      return { status: 200, body: {} };
    }
    const { status, text } = await awaitResult(call.ctx, exec, call.signal);
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  },
});

async function queueExec(
  tx: Tx,
  loaded: LoadedThread,
  request: Pick<ExecRow, 'operation_id' | 'request_id' | 'command' | 'stdin' | 'timeout_seconds'>,
): Promise<void> {
  const { thread, project } = loaded;
  const execId = newId('exe');
  await insertExec(tx, {
    ...request,
    org_id: thread.org_id,
    id: execId,
    project_id: project.id,
    thread_id: thread.id,
  });
  await enqueue(tx, 'exec.work', { execId }, { key: threadKey(thread.id), turnOf: thread });
  await changeThread(tx, loaded, { active_exec_id: execId });
}
