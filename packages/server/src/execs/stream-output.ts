/**
 * A command's output for a caller that reads it as it is written: from the runner's journal, and what did not
 * come that way from the stored result.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { clean } from '../db/clean-text.ts';
import { ApiError } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { followTask } from '../runner/follow-task.ts';
import { awaitResult, isPending, waitSecondsOf } from './await-result.ts';
import type { Result, SentExec } from './await-result.ts';
import { atThread } from '../workspaces/index.ts';
import { OutputCollector } from './collect-output.ts';

type Stream = 'stdout' | 'stderr';
type Caller = Pick<Call, 'ctx' | 'signal' | 'requestId'>;

const START_POLL_MS = 50;

/** A command whose output is read where it runs: at its thread's runner. */
type StreamedExec = SentExec & { threadId: string };

/** Writes `output` frames and a last `exit` or `error` frame. */
export async function streamOutput(
  caller: Caller,
  exec: StreamedExec,
  response: ServerResponse,
): Promise<void> {
  const frames = new FrameWriter(response);
  await showJournal(caller, exec, frames);
  if (caller.signal.aborted) return;
  const { status, text } = await awaitAnswer(caller, exec);
  const body = JSON.parse(text) as { exec?: { stdout: string; stderr: string }; error?: object };
  if (!body.exec) return frames.write('error', { status, ...body.error });
  const { stdout, stderr, ...rest } = body.exec;
  frames.complete('stdout', stdout);
  frames.complete('stderr', stderr);
  frames.write('exit', rest);
}

/**
 * Shows what the journal has. Until the command starts there is none: the runner is asked again and again.
 */
async function showJournal({ ctx, signal }: Caller, exec: StreamedExec, frames: FrameWriter): Promise<void> {
  const { operationId } = exec;
  const deadline = Date.now() + waitSecondsOf(exec) * 1000;
  const isAwaited = async () =>
    !signal.aborted && Date.now() < deadline && (await isPending(ctx, operationId));
  const kept = new OutputCollector();
  if (!(await isAwaited())) return;
  try {
    do {
      // In a fleet its job places it meanwhile.
      const at = await atThread(ctx, exec.threadId);
      await followTask(at, operationId, {
        signal,
        onEntry(entry) {
          if (entry.type === 'output') frames.show(entry.stream, kept.add(entry.stream, clean(entry.text)));
        },
        async resumeFrom() {
          if (frames.hasShown) return null;
          await sleep(START_POLL_MS);
          return !ctx.fleet && (await isAwaited()) ? 0 : null;
        },
      });
    } while (ctx.fleet && !frames.hasShown && (await isAwaited()));
  } catch (err) {
    ctx.log.debug({ err, operationId }, 'the output of a command was not streamed; its result has it');
  }
}

/** The stored answer, or the error in its place. */
async function awaitAnswer({ ctx, signal, requestId }: Caller, exec: SentExec): Promise<Result> {
  try {
    return await awaitResult(ctx, exec, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, text: JSON.stringify(error.body(requestId)) };
  }
}

class FrameWriter {
  readonly #response: ServerResponse;
  readonly #shown = { stdout: '', stderr: '' };

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get hasShown(): boolean {
    return this.#shown.stdout !== '' || this.#shown.stderr !== '';
  }

  write(event: string, data: unknown): void {
    this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  show(stream: Stream, text: string): void {
    if (!text) return;
    this.#shown[stream] += text;
    this.write('output', { stream, text });
  }

  /** Shows what of a stream's whole output was not shown yet. */
  complete(stream: Stream, whole: string): void {
    const shown = this.#shown[stream];
    if (whole.startsWith(shown)) this.show(stream, whole.slice(shown.length));
  }
}
