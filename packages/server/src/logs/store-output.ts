import { Readable } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import type { TaskEnd } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { followTask } from '../runner/follow-task.ts';
import type { Followed } from '../runner/follow-task.ts';
import { OutputTail } from '../runner/output-tail.ts';
import { logRefusal, refusalWarning } from '../settings/index.ts';
import { CommandLog } from './command-log.ts';
import type { Logged } from './command-log.ts';
import { readLog } from './read-log.ts';
import type { LogOf } from './read-log.ts';

/** A build or setup whose command runs at the runner under its id. */
interface Command extends LogOf, Pick<Logged, 'logs_truncated' | 'append'> {
  project_id: string;
  /** The last journal entry that its log has. */
  journal_offset: number;
}

/** `left`: this worker stops, another goes on. */
export type Output = { kind: 'ended'; end: TaskEnd; tail: OutputTail } | Extract<Followed, { kind: 'left' }>;

/**
 * Reads a command's journal to its end, from where the stored log ends, and stores what it prints. `limitMs`
 * is how long one connection is read. Throws what runner and database throw.
 */
export async function storeOutput(
  ctx: Context,
  job: Job,
  command: Command,
  limitMs: number,
): Promise<Output> {
  const { id, kind, project_id: project } = command;
  const stopReading = new AbortController();
  const log = new CommandLog(ctx, job, { ...command, taskId: id, onFault: () => stopReading.abort() });
  const tail = new OutputTail();
  if (command.logs_byte_size > 0) tail.add((await readLog(ctx.db, command)).text);
  try {
    const followed = await followTask(ctx, id, {
      from: command.journal_offset + 1,
      signal: AbortSignal.any([job.signal, stopReading.signal]),
      limitMs,
      onEntry(entry) {
        if (entry.type === 'output') {
          tail.add(entry.text);
          log.add(entry.offset, entry.text);
        }
        if (entry.type !== 'refused') return;
        logRefusal(ctx, entry, { project, [kind]: id });
        const { path, reason } = refusalWarning(entry);
        log.addLine(entry.offset, `[${path}: ${reason}]`);
      },
    });
    if (followed.kind === 'broken') throw followed.error;
    return followed.kind === 'ended' ? { ...followed, tail } : followed;
  } finally {
    // Keeps the output that came before a break, and throws what kept the log from being stored.
    await log.flush();
  }
}

/**
 * Has `put` send files to a command's sandbox. Without effect where it has its files already, or was
 * cancelled; throws what broke the sending.
 */
export async function sendFiles(put: (watch: (tar: unknown) => void) => Promise<void>): Promise<void> {
  let fault: unknown;
  const watch = (tar: unknown) => {
    if (tar instanceof Readable)
      tar.once('error', (error) => {
        fault = error;
      });
  };
  await put(watch).catch((error: unknown) => {
    if (error instanceof RunnerError && error.status === 409) return;
    throw fault ?? error;
  });
}
