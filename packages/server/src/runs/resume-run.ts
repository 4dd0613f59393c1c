import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { unpauseRun } from './store.ts';

/** Lets the waiting run of a locked thread go on after its last answer: `run.running`, `thread.updated`. */
export async function resumeRun(tx: Tx, loaded: LoadedThread, runId: string): Promise<void> {
  if (!(await unpauseRun(tx, runId))) return;
  appendEvent(tx, { ...scopeOf(loaded.project), threadId: loaded.thread.id, runId }, 'run.running', {
    id: runId,
    status: 'running',
  });
  await changeThread(tx, loaded, {}, 'always');
}
