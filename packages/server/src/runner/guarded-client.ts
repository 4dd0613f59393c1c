import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import type { JournalEntry } from '@headrace/runner/protocol';

/** Whether the runner counts as one that can be called, is lost for now, or is gone with all that it had. */
export interface Guard {
  standing: 'here' | 'lost' | 'gone';
  /** Aborted when it is lost or gone. */
  signal: AbortSignal;
}

const away = () => new RunnerError(503, 'unavailable', 'The runner is lost: it has not reported for 30 s.');
const missing = () => new RunnerError(404, 'not_found', 'The runner is gone, with all that it had.');

/** What a runner that is gone would answer: that it has nothing. */
const GONE: { [K in keyof RunnerClient]?: () => unknown } = {
  tasks: async () => [],
  groups: async () => [],
  keptSources: async () => [],
  keptLayers: async () => [],
  workspaceSizes: async () => [],
  workspaceExists: async () => false,
  deleteWorkspace: async () => {},
  deleteTask: async () => {},
  forgetGroup: async () => {},
  cancel: async () => {},
  ack: async () => {},
};

/**
 * A client whose calls end when its runner counts as lost, those under way too: a node without power says
 * nothing, and its connections stay open. Nothing is asked of a lost runner, though it may answer: what it has
 * was given up, or is waited for until it is gone.
 */
export function guardedClient(connected: () => RunnerClient, guard: () => Guard): RunnerClient {
  const call = async (name: keyof RunnerClient, args: unknown[]): Promise<unknown> => {
    const { standing, signal } = guard();
    if (standing === 'gone') {
      const answer = GONE[name];
      if (!answer) throw missing();
      return answer();
    }
    if (standing === 'lost') throw away();
    const client = connected();
    return endWith(signal, (client[name] as (...args: unknown[]) => Promise<unknown>).apply(client, args));
  };
  return new Proxy({} as RunnerClient, {
    get(_, name: keyof RunnerClient) {
      if (name === 'close') return () => {};
      if (name === 'journal')
        return (...args: Parameters<RunnerClient['journal']>) => guardedJournal(connected, guard, args);
      return (...args: unknown[]) => call(name, args);
    },
  });
}

/** The promise's value; throws once the signal is aborted. */
function endWith<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(away());
    signal.addEventListener('abort', end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

async function* guardedJournal(
  connected: () => RunnerClient,
  guard: () => Guard,
  [id, from, signal, only]: Parameters<RunnerClient['journal']>,
): AsyncGenerator<JournalEntry> {
  const { standing, signal: lost } = guard();
  if (standing === 'gone') throw missing();
  if (standing === 'lost') throw away();
  try {
    yield* connected().journal(id, from, signal ? AbortSignal.any([signal, lost]) : lost, only);
  } catch (error) {
    throw lost.aborted && !signal?.aborted ? away() : error;
  }
}
