/**
 * A command in the idle thread's workspace. The claim occupies the thread and enqueues the job; the job
 * settles the receipt. The caller waits for that, or reads the output as it comes: going away cancels
 * nothing.
 */
import type { ServerResponse } from 'node:http';
import Type from 'typebox';
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ExecRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { exampleOf } from '../http/example.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, Counter, Id, Nullable, Ok, Text } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { scopeOf } from '../projects/index.ts';
import { clean } from '../db/clean-text.ts';
import { threadKey } from '../runs/index.ts';
import { changeThread, lockThread, requireIdle, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { OutputCollector } from './collect-output.ts';
import { insertExec } from './store.ts';

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
const START_POLL_MS = 50;
const DEFAULT_SECONDS = 60;
/** What queueing, preparing and capturing may take beside the command. */
const SETTLING_SECONDS = 120;

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
        requireOpen(loaded.thread);
        await requireIdle(tx, loaded.thread);
        if (call.ctx.runnerStatus()?.ok === false)
          throw new ApiError(
            'source_workspace_unavailable',
            'No sandbox can be made here. Ask the operator to install one.',
          );
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
    const { ctx, headers, signal } = call;
    if ((headers.accept ?? '').includes('text/event-stream')) {
      const response = call.hijack({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-operation-id': claim.operationId,
      });
      await stream(call, claim.operationId, response, call.body.timeoutSeconds ?? DEFAULT_SECONDS).finally(
        () => response.end(),
      );
      return { status: 200, body: {} };
    }
    const settled = await settlement(
      ctx,
      claim.operationId,
      signal,
      call.body.timeoutSeconds ?? DEFAULT_SECONDS,
    );
    return { status: settled.status, body: JSON.parse(settled.text) as Record<string, unknown> };
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
  await enqueue(tx, 'exec.work', { execId }, { key: threadKey(thread.id), fairKey: project.id });
  await changeThread(tx, loaded, { active_exec_id: execId });
}

/** Waits for the job to settle the receipt: the command's time, and what queueing and capturing may take. */
async function settlement(
  ctx: Context,
  operationId: string,
  signal: AbortSignal,
  timeoutSeconds: number,
): Promise<{ status: number; text: string }> {
  const load = () =>
    ctx.db
      .selectFrom('operations')
      .select(['status', 'response', 'response_status'])
      .where('id', '=', operationId)
      .executeTakeFirst();
  const row = await waitFor(
    ctx.bus,
    { channel: 'operations', id: operationId },
    timeoutSeconds + SETTLING_SECONDS,
    signal,
    load,
    (r) => r?.status !== 'pending',
  );
  if (!row || row.status === 'pending')
    throw new ApiError('request_in_progress', 'The command still runs. Read its operation for the result.', {
      details: { operationId },
    });
  return { status: row.response_status!, text: row.response! };
}

const frame = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * The output as it is written, read from the runner's journal; what of it did not come that way, from the
 * stored result.
 */
async function stream(
  { ctx, signal, requestId }: Pick<Call, 'ctx' | 'signal' | 'requestId'>,
  operationId: string,
  response: ServerResponse,
  timeoutSeconds: number,
): Promise<void> {
  const deadline = Date.now() + (timeoutSeconds + SETTLING_SECONDS) * 1000;
  const seen = new OutputCollector();
  const shown = { stdout: '', stderr: '' };
  const show = (name: 'stdout' | 'stderr', text: string) => {
    shown[name] += text;
    if (text) response.write(frame('output', { stream: name, text }));
  };
  const isSettled = async () =>
    (await ctx.db.selectFrom('operations').select('status').where('id', '=', operationId).executeTakeFirst())
      ?.status !== 'pending';
  while (!signal.aborted && Date.now() < deadline && !(await isSettled())) {
    try {
      for await (const entry of ctx.runner.journal(operationId, 0, signal)) {
        if (entry.type !== 'output') continue;
        show(entry.stream, seen.add(entry.stream, clean(entry.text)));
      }
      break;
    } catch (error) {
      if (!(error instanceof RunnerError) || shown.stdout || shown.stderr) break;
      await new Promise((resolve) => {
        setTimeout(resolve, START_POLL_MS);
      });
    }
  }
  if (signal.aborted) return;
  const settled = await settlement(ctx, operationId, signal, timeoutSeconds).catch((error: unknown) => {
    if (error instanceof ApiError)
      return { status: error.status, text: JSON.stringify(error.body(requestId)) };
    throw error;
  });
  const { status, text } = settled;
  const body = JSON.parse(text) as { exec?: { stdout: string; stderr: string }; error?: unknown };
  if (!body.exec) return void response.write(frame('error', { status, ...(body.error as object) }));
  const { stdout, stderr, ...rest } = body.exec;
  for (const [name, all] of [
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const)
    if (all.startsWith(shown[name])) show(name, all.slice(shown[name].length));
  response.write(frame('exit', rest));
}
